import { abortReason, type Cancel, type Clock } from '@behalf/kernel';
import type { Transport } from '@modelcontextprotocol/client';
import { WebSocket, type RawData } from 'ws';
import { classifyNetworkError, classifyStatus } from '../http/errors.ts';
import type { Network } from '../upstream.ts';
import type { RemoteTarget } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import { parseRpcMessage } from '../messages.ts';

/** Equals the limit for an HTTP response body. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_FRAGMENTS = 16_384;
/** A peer that disappeared is detected after two intervals. */
const PING_INTERVAL_MS = 30_000;
const CLOSE_GRACE_MS = 2_000;
const UNSUPPORTED_DATA = 1003;

/** MCP over a WebSocket with subprotocol `mcp`, one message per text frame. The SDK has no such transport. */
export function createWebSocketTransport(
  target: RemoteTarget,
  parts: {
    readonly clock: Clock;
    readonly network: Network;
    /** Aborts connecting. */
    readonly signal: AbortSignal;
  },
): Transport {
  const { clock, network } = parts;
  let socket: WebSocket | undefined;
  let isClosed = false;
  let stopPings: Cancel = () => undefined;

  const channel: Transport = {
    async start() {
      // Only the handshake carries a token. Messages would still be accepted after the token expired.
      if (target.bearer) throw new UpstreamError('bearer_unsupported');
      const connection = await network.connectTo(target, parts.signal).catch((error: unknown) => {
        if (parts.signal.aborted) throw abortReason(parts.signal);
        throw classifyNetworkError(error, network.readError);
      });
      // Closed while connecting.
      if (isClosed) {
        connection.destroy();
        throw new UpstreamError('ended');
      }
      const newSocket = new WebSocket(target.url, ['mcp'], {
        headers: { ...target.headers },
        // Egress has checked the address, connected, and for wss established TLS.
        createConnection: () => connection,
        followRedirects: false,
        maxPayload: MAX_MESSAGE_BYTES,
        // Each fragment costs memory beyond its bytes: fragments of one byte would take a hundred times their size.
        maxFragments: MAX_FRAGMENTS,
        // A few compressed bytes could expand to the maximum size.
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
      // An invalid frame does not close the channel.
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
  // Invalid frames, or a missing or wrong subprotocol.
  if (code === undefined || code.startsWith('WS_ERR'))
    return new UpstreamError('invalid_response', { cause: error });
  return new UpstreamError('reset', { cause: error });
}
