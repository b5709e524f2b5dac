import { abortReason, type Cancel, type Clock } from '@behalf/kernel';
import type { Transport } from '@modelcontextprotocol/client';
import { WebSocket, type RawData } from 'ws';
import { classifyNetworkError, classifyStatus } from '../http/errors.ts';
import type { Network } from '../upstream.ts';
import type { RemoteTarget } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import { parseRpcMessage } from '../messages.ts';

interface WebSocketParts {
  readonly clock: Clock;
  readonly network: Network;
  /** Aborts the dial. */
  readonly signal: AbortSignal;
}

/** As large as the body of an answer over HTTP may be. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_FRAGMENTS = 16_384;
/** A peer that is gone without a word is noticed after two of these. */
const PING_INTERVAL_MS = 30_000;
const CLOSE_GRACE_MS = 2_000;
const UNSUPPORTED_DATA = 1003;

/** MCP over a websocket, subprotocol `mcp`, one message a text frame. The SDK's second version has none. */
export function createWebSocketTransport(target: RemoteTarget, parts: WebSocketParts): Transport {
  const { clock, network } = parts;
  let socket: WebSocket | undefined;
  let isClosed = false;
  let stopPings: Cancel = () => undefined;

  const channel: Transport = {
    async start() {
      // The hand-shake carries one token, and every message after it none: it would outlive its own end.
      if (target.bearer) throw new UpstreamError('bearer_unsupported');
      const connection = await network.connectTo(target, parts.signal).catch((error: unknown) => {
        if (parts.signal.aborted) throw abortReason(parts.signal);
        throw classifyNetworkError(error, network.readError);
      });
      // Closed while it was dialled.
      if (isClosed) {
        connection.destroy();
        throw new UpstreamError('ended');
      }
      const newSocket = new WebSocket(target.url, ['mcp'], {
        headers: { ...target.headers },
        // Judged, dialled and, for wss, wrapped in TLS already.
        createConnection: () => connection,
        followRedirects: false,
        maxPayload: MAX_MESSAGE_BYTES,
        // Each one costs memory beyond its bytes, so that a message of single bytes would take a hundred times its size.
        maxFragments: MAX_FRAGMENTS,
        // A few bytes could unfold to the whole limit, for every message anew.
        perMessageDeflate: false,
      });
      socket = newSocket;
      await waitForOpen(newSocket);
      startPings(newSocket);
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
          handleClose();
          return resolve();
        }
        const closing = socket;
        const cancelTimer = clock.timer(CLOSE_GRACE_MS, () => closing.terminate());
        closing.once('close', () => {
          cancelTimer();
          resolve();
        });
        if (closing.readyState === WebSocket.CONNECTING) closing.terminate();
        else closing.close(1000);
      }),
  };

  function waitForOpen(newSocket: WebSocket): Promise<void> {
    return new Promise((resolve, reject) => {
      let responseError: UpstreamError | undefined;
      newSocket.once('open', () => resolve());
      newSocket.once('unexpected-response', (_request, response) => {
        const header = (name: string) => [response.headers[name]].flat()[0];
        const request = { url: target.url, era: 'legacy' as const, id: undefined, hasSession: false, clock };
        responseError = classifyStatus({ status: response.statusCode ?? 0, header, text: '' }, request);
        response.destroy();
        newSocket.terminate();
      });
      newSocket.on('error', (error) => {
        const failure = responseError ?? toSocketError(error);
        channel.onerror?.(failure);
        reject(failure);
      });
      newSocket.once('close', () => {
        handleClose();
        reject(responseError ?? new UpstreamError('connect_failed'));
      });
      newSocket.on('message', receive);
    });
  }

  function receive(data: RawData, isBinary: boolean): void {
    if (isBinary) return socket?.close(UNSUPPORTED_DATA);
    try {
      channel.onmessage?.(parseRpcMessage((data as Buffer).toString('utf8')));
    } catch (error) {
      // One frame that is not a message: say so and read on.
      channel.onerror?.(error as Error);
    }
  }

  function startPings(openSocket: WebSocket): void {
    let isAlive = true;
    openSocket.on('pong', () => (isAlive = true));
    const sendPing = () => {
      if (!isAlive) {
        openSocket.terminate();
        return;
      }
      isAlive = false;
      openSocket.ping();
      stopPings = clock.timer(PING_INTERVAL_MS, sendPing);
    };
    stopPings = clock.timer(PING_INTERVAL_MS, sendPing);
  }

  function handleClose(): void {
    if (isClosed) return;
    isClosed = true;
    stopPings();
    channel.onclose?.();
  }

  return channel;
}

function toSocketError(error: Error): UpstreamError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS')
    return new UpstreamError('too_large', { cause: error });
  // Without a subprotocol, with another one, or with frames that are none.
  if (code === undefined || code.startsWith('WS_ERR'))
    return new UpstreamError('invalid_response', { cause: error });
  return new UpstreamError('reset', { cause: error });
}
