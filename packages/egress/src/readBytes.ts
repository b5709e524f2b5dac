import type { Duplex } from 'node:stream';

/**
 * Reads from a socket until `complete` says how many of the bytes so far belong to the message; what follows is put
 * back for the next reader. Used for the few bytes a proxy sends before the tunnel stands.
 */
export function readBytes(
  socket: Duplex,
  findEnd: (bytes: Buffer) => number | undefined,
  maxBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const finish = (outcome: () => void) => {
      socket.off('readable', onReadable);
      socket.off('error', onEnd);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      outcome();
    };
    const onEnd = () => finish(() => reject(new Error('The proxy closed the connection')));
    const onReadable = () => {
      for (;;) {
        const chunk = socket.read() as Buffer | null;
        if (chunk === null) return;
        bytes = Buffer.concat([bytes, chunk]);
        const length = findEnd(bytes);
        if (length !== undefined && length <= bytes.length) {
          finish(() => {
            if (length < bytes.length) socket.unshift(bytes.subarray(length));
            resolve(bytes.subarray(0, length));
          });
          return;
        }
        if (bytes.length > maxBytes) {
          finish(() => reject(new Error('The proxy response is too large')));
          return;
        }
      }
    };
    socket.on('readable', onReadable);
    socket.on('error', onEnd);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
    if (socket.destroyed) onEnd();
    else onReadable();
  });
}
