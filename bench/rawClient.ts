import { connect, type Socket } from 'node:net';
import type { LoadRequest } from './loadJob.ts';

export interface RawResponse {
  status: number;
  /** Headers and body as received. */
  bytes: Buffer;
}

/**
 * A keep-alive connection for sequential requests. Much cheaper than an HTTP client, so that the generator is not
 * the bottleneck. Supports content length and chunked encoding, which the servers here use.
 */
export class RawClient {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #size = 0;
  #waiting: { resolve: (response: RawResponse) => void; reject: (error: Error) => void } | undefined;
  #need = 0;

  constructor(port: number) {
    this.#socket = connect({ host: '127.0.0.1', port }).setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection')));
  }

  send(request: Buffer): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#need) return;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    const headerEnd = bytes.indexOf('\r\n\r\n');
    if (headerEnd < 0) return;
    const headerText = bytes.toString('latin1', 0, headerEnd);
    const contentLength = /\r\ncontent-length: *(\d+)/i.exec(headerText)?.[1];
    if (contentLength === undefined) {
      const hasNoBody = /^HTTP\/1.1 (?:204|304)/.test(headerText);
      if (!hasNoBody && !bytes.subarray(-5).equals(Buffer.from('0\r\n\r\n'))) return;
    } else {
      this.#need = headerEnd + 4 + Number(contentLength);
      if (this.#size < this.#need) return;
    }
    this.#chunks = [];
    this.#size = 0;
    this.#need = 0;
    const pending = this.#waiting;
    this.#waiting = undefined;
    pending?.resolve({ status: Number(headerText.slice(9, 12)), bytes });
  }
}

export function encodeRequest(port: number, { method = 'POST', path, headers, body }: LoadRequest): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (method === 'POST') {
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
