import { GatewayError, type JsonObject } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';
import { type Cancel, type Clock, LightCancellation, type Random, abortReason } from '@behalf/kernel';
import { type McpRequest, createMcpInbound } from '../request.ts';
import { RpcFault } from '../rpc.ts';
import type { Mailbox, SessionKey } from '../session/mailbox.ts';
import type { AttachedRequest, SuspendedCall } from './suspendedCall.ts';

export interface RemoteResumeParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
  readonly random: Random;
  /** What a client is told of an error. */
  readonly toRpcFault: (error: unknown, mcpRequest: McpRequest) => RpcFault;
}

/** The replica where a call waits says that it works on it, so that the other one does not wait for a dead one. */
const HEARTBEAT_MS = 5_000;
const HEARTBEAT_TTL_MS = 20_000;
/** A result is a word like any other, and the store is everybody's. */
const MAX_RESULT_LENGTH = 8 * 1024 * 1024;

interface ResumeMessage {
  readonly attempt: string;
  readonly responses: JsonObject;
  readonly capabilities: JsonObject;
  /** Whether the client wants to hear what the server says besides. */
  readonly wantsProgress: boolean;
}

interface ResumeResult {
  readonly text?: string;
  readonly buffered?: BufferedProgress;
  readonly fault?: Pick<RpcFault, 'code' | 'message' | 'status'> & { readonly data?: JsonObject };
}

/** The answers came to us and the call waits at another replica: they go there, and what it gives comes back. */
export function resumeRemotely(
  { cache, mailbox, clock, random }: RemoteResumeParts,
  sessionKey: SessionKey,
  mcpRequest: McpRequest,
  round: number,
  responses: JsonObject,
): Promise<string> {
  const { signal, capabilities } = mcpRequest;
  const attempt = random.id();
  const { onProgress, onLog } = createMcpInbound(mcpRequest, attempt);
  const wantsProgress = onProgress !== undefined || onLog !== undefined;
  const relay = ({ progress, logs }: BufferedProgress) => {
    for (const log of logs) onLog?.(log);
    if (progress) onProgress?.(progress);
  };
  return new Promise((resolve, reject) => {
    const stopProgress = wantsProgress
      ? receiveProgress({ mailbox }, sessionKey, attempt, relay)
      : () => undefined;
    let cancel: Cancel = () => undefined;
    const cleanUp = () => {
      stopWaiting();
      stopProgress();
      cancel();
      signal.removeEventListener('abort', cancelOnDisconnect);
    };
    const failLost = () => {
      cleanUp();
      // It was answered, and whether the server ran it nobody here knows.
      reject(
        new GatewayError('MCP_OUTCOME_UNCERTAIN', {
          detail: 'The replica that ran this call is no longer available.',
        }),
      );
    };
    const cancelOnDisconnect = () => {
      cleanUp();
      mailbox.post(sessionKey, `cancelled:${attempt}`, 'cancelled').catch(() => undefined);
      reject(abortReason(signal));
    };
    const scheduleHeartbeatCheck = (ms: number) => {
      cancel = clock.timer(ms, () => {
        cache.get(heartbeatKey(attempt)).then(
          (heartbeat) => (heartbeat === undefined ? failLost() : scheduleHeartbeatCheck(HEARTBEAT_MS)),
          () => scheduleHeartbeatCheck(HEARTBEAT_MS),
        );
      });
    };
    const stopWaiting = mailbox.wait(
      sessionKey,
      `result:${attempt}`,
      (message) => {
        cleanUp();
        const { text, buffered, fault } = JSON.parse(message) as ResumeResult;
        if (buffered) relay(buffered);
        if (text !== undefined) resolve(text);
        else reject(new RpcFault(fault?.code ?? 0, fault?.message ?? '', fault));
      },
      { shouldPoll: true },
    );
    if (signal.aborted) return cancelOnDisconnect();
    signal.addEventListener('abort', cancelOnDisconnect);
    const retry: ResumeMessage = { attempt, responses, capabilities, wantsProgress };
    mailbox.post(sessionKey, `retry:${round}`, JSON.stringify(retry)).then(
      () => scheduleHeartbeatCheck(HEARTBEAT_TTL_MS / 2),
      () => failLost(),
    );
  });
}

/** The other end of it: a client that is at another replica waits for the call that is here. */
export async function serveRemoteResume(
  { cache, mailbox, clock, toRpcFault }: RemoteResumeParts,
  sessionKey: SessionKey,
  { call, mcpRequest }: { readonly call: SuspendedCall; readonly mcpRequest: McpRequest },
  message: string,
): Promise<void> {
  const { attempt, responses, capabilities, wantsProgress } = JSON.parse(message) as ResumeMessage;
  const progressRelay = wantsProgress
    ? createProgressRelay({ mailbox, clock }, sessionKey, attempt)
    : undefined;
  const signal = new LightCancellation();
  let isDone = false;
  let cancel: Cancel = () => undefined;
  const sendHeartbeat = () => {
    if (isDone) return;
    cache.set(heartbeatKey(attempt), '1', HEARTBEAT_TTL_MS).catch(() => undefined);
    cancel = clock.timer(HEARTBEAT_MS, sendHeartbeat);
  };
  sendHeartbeat();
  const stopWaiting = mailbox.wait(
    sessionKey,
    `cancelled:${attempt}`,
    () => signal.abort(new DOMException('The client disconnected', 'AbortError')),
    { shouldPoll: true },
  );
  call.provideResponses(responses);
  let result: ResumeResult;
  try {
    result = { text: await call.attach({ signal, capabilities, ...progressRelay }) };
  } catch (error) {
    result = { fault: toFaultMessage(toRpcFault(error, mcpRequest)) };
  }
  const buffered = progressRelay?.drain();
  if (buffered) result = { ...result, buffered };
  try {
    if (!signal.aborted)
      await mailbox.post(
        sessionKey,
        `result:${attempt}`,
        serializeResult(result, (error) => toRpcFault(error, mcpRequest)),
      );
  } catch {
    // The store does not answer: who waits finds nobody alive.
  } finally {
    isDone = true;
    cancel();
    stopWaiting();
  }
}

function serializeResult(result: ResumeResult, toRpcFault: (error: unknown) => RpcFault): string {
  const message = JSON.stringify(result);
  if (message.length <= MAX_RESULT_LENGTH) return message;
  return JSON.stringify({ fault: toFaultMessage(toRpcFault(new GatewayError('MCP_RESPONSE_TOO_LARGE'))) });
}

/** All that an answer is made of. The message of an error is not among what JSON takes by itself. */
function toFaultMessage({ code, message, data, status }: RpcFault): NonNullable<ResumeResult['fault']> {
  return { code, message, status, ...(data && { data }) };
}

function heartbeatKey(attempt: string): string {
  return `heartbeat:${attempt}`;
}

/** What a server said besides during a call. */
interface BufferedProgress {
  /** Only the last: whoever hears it late has missed nothing. */
  readonly progress?: JsonObject;
  readonly logs: readonly JsonObject[];
}

interface ProgressRelayParts {
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
}

/** A word to another replica is a write to the store: what comes close together is one. */
const BATCH_MS = 250;
/** Of what comes in one such time. A server that writes more loses what is over: the store is everybody's. */
const MAX_LOGS = 50;
const MAX_PROGRESS_LENGTH = 64 * 1024;

/** Tells a request that waits at another replica what the server says, word by word. */
interface ProgressRelay extends Required<Pick<AttachedRequest, 'onProgress' | 'onLog'>> {
  /** What was not told yet: it goes with the result. Nothing is told any more. */
  drain(): BufferedProgress | undefined;
}

function createProgressRelay(
  { mailbox, clock }: ProgressRelayParts,
  sessionKey: SessionKey,
  attempt: string,
): ProgressRelay {
  let progress: JsonObject | undefined;
  let logs: JsonObject[] = [];
  let size = 0;
  let sequence = 0;
  let timer: Cancel | undefined;
  let isClosed = false;

  function takeBuffered(): BufferedProgress | undefined {
    timer?.();
    timer = undefined;
    if (progress === undefined && logs.length === 0) return undefined;
    const buffered = { ...(progress && { progress }), logs };
    progress = undefined;
    logs = [];
    size = 0;
    return buffered;
  }

  function flush(): void {
    const buffered = takeBuffered();
    if (!buffered) return;
    mailbox.post(sessionKey, messageName(attempt, sequence), JSON.stringify(buffered)).catch(() => undefined);
    sequence += 1;
  }

  function scheduleFlush(): void {
    if (!isClosed) timer ??= clock.timer(BATCH_MS, flush);
  }

  return {
    onProgress(params) {
      if (JSON.stringify(params).length > MAX_PROGRESS_LENGTH) return;
      progress = params;
      scheduleFlush();
    },
    onLog(params) {
      const length = JSON.stringify(params).length;
      if (logs.length >= MAX_LOGS || size + length > MAX_PROGRESS_LENGTH) return;
      size += length;
      logs.push(params);
      scheduleFlush();
    },
    drain() {
      isClosed = true;
      return takeBuffered();
    },
  };
}

/** The other end of it. Returns how to stop. */
function receiveProgress(
  { mailbox }: Pick<ProgressRelayParts, 'mailbox'>,
  sessionKey: SessionKey,
  attempt: string,
  onBuffered: (buffered: BufferedProgress) => void,
): () => void {
  let sequence = 0;
  const waitNext = (): (() => void) =>
    mailbox.wait(
      sessionKey,
      messageName(attempt, sequence),
      (message) => {
        sequence += 1;
        stop = waitNext();
        onBuffered(JSON.parse(message) as BufferedProgress);
      },
      { shouldPoll: true },
    );
  let stop = waitNext();
  return () => stop();
}

function messageName(attempt: string, sequence: number): string {
  return `progress:${attempt}:${sequence}`;
}
