/** A thread that ends at its first message, with no answer and no error. */
declare const self: Worker;

self.onmessage = () => process.exit(0);
