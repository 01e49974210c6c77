/** Answers every request that arrives in one piece with the same 201, unread. Its cost is negligible, so its
 * rate is the load generator's own limit. Prints its port. */
const answer =
  'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"success":true}';
const server = Bun.listen({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 0),
  socket: { data: (socket) => void socket.write(answer) },
});
console.log(server.port);

export {};
