/** The text of a body of at most so many bytes. Undefined: there is none, or it is larger; no more of it is read then. */
export async function readBoundedText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  if (!body) return undefined;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString('utf8');
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
