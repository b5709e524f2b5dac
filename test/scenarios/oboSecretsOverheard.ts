import { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Piece } from './collected.ts';
import type { Planted } from './planted.ts';

/** Everything that servers of this process were sent and answered, while it lasts: the provider's and the gateway's. */
export interface Overheard {
  /** The answers of the server on this port, whole. */
  answersOf(port: number): Piece[];
  /** Plants every credential that went to the provider on this port or came from it. Their names. */
  plantSecrets(port: number, planted: Planted): string[];
  stop(): void;
}

interface Heard {
  readonly port: number;
  readonly what: string;
  text: string;
}

/** Fields of a form or an answer that are worth something to a thief. */
const SECRET_FIELDS = [
  ...[
    'client_secret',
    'client_assertion',
    'assertion',
    'subject_token',
    'actor_token',
    'code',
    'code_verifier',
  ],
  ...['access_token', 'refresh_token', 'id_token'],
];

export function overhear(): Overheard {
  const asked = new Map<IncomingMessage, Heard>();
  const answered = new Map<ServerResponse, Heard>();
  type Method = (...args: unknown[]) => unknown;
  const [end, write] = ['end', 'write'].map(
    (name) => Reflect.get(ServerResponse.prototype, name) as Method,
  ) as [Method, Method];
  const hadPush = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, 'push');

  function hear(response: ServerResponse, chunk: unknown): void {
    const { req, socket } = response;
    const heard = answered.get(response) ?? {
      port: socket?.localPort ?? req.socket.localPort ?? 0,
      what: `${req.method} ${req.url}`,
      text: '',
    };
    answered.set(response, heard);
    heard.text += textOf(chunk);
  }

  Object.assign(ServerResponse.prototype, {
    write(this: ServerResponse, ...args: unknown[]) {
      hear(this, args[0]);
      return Reflect.apply(write, this, args);
    },
    end(this: ServerResponse, ...args: unknown[]) {
      hear(this, args[0]);
      const ended = Reflect.apply(end, this, args);
      const heard = answered.get(this);
      // As it went over the wire, whoever set them.
      if (heard) heard.text = `${String((this as { _header?: unknown })._header)}\n${heard.text}`;
      return ended;
    },
  });
  IncomingMessage.prototype.push = function (
    this: IncomingMessage,
    chunk: unknown,
    encoding?: BufferEncoding,
  ) {
    if (this.method !== undefined && this.method !== null && chunk !== null) {
      const heard = asked.get(this) ?? { port: this.socket.localPort ?? 0, what: this.url ?? '', text: '' };
      asked.set(this, heard);
      heard.text += textOf(chunk);
    }
    return Readable.prototype.push.call(this, chunk, encoding);
  };

  const on = (port: number, all: Iterable<Heard>) => [...all].filter((heard) => heard.port === port);
  return {
    answersOf: (port) =>
      on(port, answered.values()).map(({ what, text }) => ({ from: `the answer to ${what}`, text })),
    plantSecrets(port, planted) {
      const found = new Map<string, string>();
      for (const { text } of on(port, asked.values())) {
        for (const [name, value] of new URLSearchParams(text)) found.set(value, name);
      }
      for (const { text } of on(port, answered.values())) {
        for (const name of SECRET_FIELDS) {
          for (const [, value = ''] of text.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g')))
            found.set(value, name);
        }
      }
      const names: string[] = [];
      for (const [value, name] of found) {
        if (!SECRET_FIELDS.includes(name) || value.length < 16) continue;
        names.push(name);
        const label = `${name} ${planted.names.length}`;
        planted.add(label, value);
        // A token is as bad in two halves.
        const [, payload = '', signature = ''] = /^eyJ[\w-]+\.([\w-]+)\.([\w-]+)$/.exec(value) ?? [];
        if (payload !== '') planted.add(`what ${label} says`, payload);
        if (signature !== '') planted.add(`the signature of ${label}`, signature);
      }
      return names;
    },
    stop() {
      Object.assign(ServerResponse.prototype, { end, write });
      if (hadPush) Object.defineProperty(IncomingMessage.prototype, 'push', hadPush);
      else Reflect.deleteProperty(IncomingMessage.prototype, 'push');
    },
  };
}

function textOf(chunk: unknown): string {
  if (typeof chunk === 'string') return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : '';
}
