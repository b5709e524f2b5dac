import { abortReason, type Cancel, type Clock } from '@behalf/kernel';
import type { Transport } from '@modelcontextprotocol/client';
import { WebSocket, type RawData } from 'ws';
import { classifyStatus } from '../http/classifyStatus.ts';
import { networkFailure } from '../http/networkFailure.ts';
import type { Network } from '../parts.ts';
import type { RemoteTarget } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import { readMessage } from './message.ts';

export interface WebSocketParts {
  readonly clock: Clock;
  readonly network: Network;
  /** Aborts the dial. */
  readonly signal: AbortSignal;
}

/** As large as the body of an answer over HTTP may be. */
const LARGEST_MESSAGE = 16 * 1024 * 1024;
const MOST_FRAGMENTS = 16_384;
/** A peer that is gone without a word is noticed after two of these. */
const PING_MS = 30_000;
const CLOSE_GRACE_MS = 2_000;
const UNSUPPORTED_DATA = 1003;

/** MCP over a websocket, subprotocol `mcp`, one message a text frame. The SDK's second version has none. */
export function createWebSocketTransport(target: RemoteTarget, parts: WebSocketParts): Transport {
  const { clock, network } = parts;
  let socket: WebSocket | undefined;
  let gone = false;
  let stopPings: Cancel = () => undefined;

  const channel: Transport = {
    async start() {
      // The hand-shake carries one token, and every message after it none: it would outlive its own end.
      if (target.bearer) throw new UpstreamError('bearer_unsupported');
      const wire = await network.connectTo(target, parts.signal).catch((error: unknown) => {
        if (parts.signal.aborted) throw abortReason(parts.signal);
        throw networkFailure(error, network.readError);
      });
      // Closed while it was dialled.
      if (gone) {
        wire.destroy();
        throw new UpstreamError('ended');
      }
      const opening = new WebSocket(target.url, ['mcp'], {
        headers: { ...target.headers },
        // Judged, dialled and, for wss, wrapped in TLS already.
        createConnection: () => wire,
        followRedirects: false,
        maxPayload: LARGEST_MESSAGE,
        // Each one costs memory beyond its bytes, so that a message of single bytes would take a hundred times its size.
        maxFragments: MOST_FRAGMENTS,
        // A few bytes could unfold to the whole limit, for every message anew.
        perMessageDeflate: false,
      });
      socket = opening;
      await opened(opening);
      ping(opening);
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (socket?.readyState !== WebSocket.OPEN) return reject(new UpstreamError('ended'));
        socket.send(JSON.stringify(message), (error) =>
          error ? reject(new UpstreamError('reset', { cause: error })) : resolve(),
        );
      }),
    close: () =>
      new Promise((resolve) => {
        if (!socket || socket.readyState === WebSocket.CLOSED) {
          leave();
          return resolve();
        }
        const closing = socket;
        const stop = clock.timer(CLOSE_GRACE_MS, () => closing.terminate());
        closing.once('close', () => {
          stop();
          resolve();
        });
        if (closing.readyState === WebSocket.CONNECTING) closing.terminate();
        else closing.close(1000);
      }),
  };

  function opened(opening: WebSocket): Promise<void> {
    return new Promise((resolve, reject) => {
      let refusal: UpstreamError | undefined;
      opening.once('open', () => resolve());
      opening.once('unexpected-response', (_request, response) => {
        const header = (name: string) => [response.headers[name]].flat()[0];
        const about = { url: target.url, era: 'legacy' as const, id: undefined, session: false, clock };
        refusal = classifyStatus({ status: response.statusCode ?? 0, header, text: '' }, about);
        response.destroy();
        opening.terminate();
      });
      opening.on('error', (error) => {
        const failure = refusal ?? socketFailure(error);
        channel.onerror?.(failure);
        reject(failure);
      });
      opening.once('close', () => {
        leave();
        reject(refusal ?? new UpstreamError('connect_failed'));
      });
      opening.on('message', receive);
    });
  }

  function receive(data: RawData, isBinary: boolean): void {
    if (isBinary) return socket?.close(UNSUPPORTED_DATA);
    try {
      channel.onmessage?.(readMessage((data as Buffer).toString('utf8')));
    } catch (error) {
      // One frame that is not a message: say so and read on.
      channel.onerror?.(error as Error);
    }
  }

  function ping(open: WebSocket): void {
    let answered = true;
    open.on('pong', () => (answered = true));
    const next = () => {
      if (!answered) {
        open.terminate();
        return;
      }
      answered = false;
      open.ping();
      stopPings = clock.timer(PING_MS, next);
    };
    stopPings = clock.timer(PING_MS, next);
  }

  function leave(): void {
    if (gone) return;
    gone = true;
    stopPings();
    channel.onclose?.();
  }

  return channel;
}

function socketFailure(error: Error): UpstreamError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS')
    return new UpstreamError('too_large', { cause: error });
  // Without a subprotocol, with another one, or with frames that are none.
  if (code === undefined || code.startsWith('WS_ERR')) return new UpstreamError('garbage', { cause: error });
  return new UpstreamError('reset', { cause: error });
}
