/** A bare `Bun.serve` that parses a JSON body and answers 201 with it: the ceiling that intake is held
 * against. Prints its port. */
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 0),
  async fetch(request) {
    return Response.json(await request.json(), { status: 201 });
  },
});
console.log(server.port);

export {};
