import { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { OutputPiece } from './collectedOutput.ts';
import type { PlantedSecrets } from './plantedSecrets.ts';

/** Everything that servers of this process were sent and answered, while it lasts: the provider's and the gateway's. */
export interface TrafficCapture {
  /** The answers of the server on this port, whole. */
  responsesOf(port: number): OutputPiece[];
  /** Plants every credential that went to the provider on this port or came from it. Their names. */
  plantSecrets(port: number, planted: PlantedSecrets): string[];
  stop(): void;
}

interface CapturedMessage {
  readonly port: number;
  readonly target: string;
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

export function captureTraffic(): TrafficCapture {
  const capturedRequests = new Map<IncomingMessage, CapturedMessage>();
  const capturedResponses = new Map<ServerResponse, CapturedMessage>();
  type Method = (...args: unknown[]) => unknown;
  const [end, write] = ['end', 'write'].map(
    (name) => Reflect.get(ServerResponse.prototype, name) as Method,
  ) as [Method, Method];
  const ownPush = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, 'push');

  function captureChunk(response: ServerResponse, chunk: unknown): void {
    const { req, socket } = response;
    const captured = capturedResponses.get(response) ?? {
      port: socket?.localPort ?? req.socket.localPort ?? 0,
      target: `${req.method} ${req.url}`,
      text: '',
    };
    capturedResponses.set(response, captured);
    captured.text += textOf(chunk);
  }

  Object.assign(ServerResponse.prototype, {
    write(this: ServerResponse, ...args: unknown[]) {
      captureChunk(this, args[0]);
      return Reflect.apply(write, this, args);
    },
    end(this: ServerResponse, ...args: unknown[]) {
      captureChunk(this, args[0]);
      const result = Reflect.apply(end, this, args);
      const captured = capturedResponses.get(this);
      // As it went over the wire, whoever set them.
      if (captured) captured.text = `${String((this as { _header?: unknown })._header)}\n${captured.text}`;
      return result;
    },
  });
  IncomingMessage.prototype.push = function (
    this: IncomingMessage,
    chunk: unknown,
    encoding?: BufferEncoding,
  ) {
    if (this.method !== undefined && this.method !== null && chunk !== null) {
      const captured = capturedRequests.get(this) ?? {
        port: this.socket.localPort ?? 0,
        target: this.url ?? '',
        text: '',
      };
      capturedRequests.set(this, captured);
      captured.text += textOf(chunk);
    }
    return Readable.prototype.push.call(this, chunk, encoding);
  };

  const messagesOn = (port: number, messages: Iterable<CapturedMessage>) =>
    [...messages].filter((captured) => captured.port === port);
  return {
    responsesOf: (port) =>
      messagesOn(port, capturedResponses.values()).map(({ target, text }) => ({
        from: `the answer to ${target}`,
        text,
      })),
    plantSecrets(port, planted) {
      const secretNames = new Map<string, string>();
      for (const { text } of messagesOn(port, capturedRequests.values())) {
        for (const [name, value] of new URLSearchParams(text)) secretNames.set(value, name);
      }
      for (const { text } of messagesOn(port, capturedResponses.values())) {
        for (const name of SECRET_FIELDS) {
          for (const [, value = ''] of text.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g')))
            secretNames.set(value, name);
        }
      }
      const names: string[] = [];
      for (const [value, name] of secretNames) {
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
      if (ownPush) Object.defineProperty(IncomingMessage.prototype, 'push', ownPush);
      else Reflect.deleteProperty(IncomingMessage.prototype, 'push');
    },
  };
}

function textOf(chunk: unknown): string {
  if (typeof chunk === 'string') return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : '';
}
