import { GatewayError, type JsonObject } from '@behalf/gateway';
import { LightCancellation, type Random, abortReason } from '@behalf/kernel';
import {
  MAX_RELAY_MESSAGE_LENGTH,
  type RelayParts,
  createRelayWriter,
  openRelayReader,
} from '../relay/relayChannel.ts';
import { type McpRequest, createMcpInbound } from '../request.ts';
import { RpcFault } from '../rpc.ts';
import type { SessionKey } from '../sealed.ts';
import type { SuspendedCall } from './suspendedCall.ts';

/*
 * Resumes a suspended call whose client returned to another replica. That replica forwards the responses to the holder of the
 * call, and the relay returns progress, log messages and the result.
 */
export interface RemoteResumeParts extends RelayParts {
  readonly random: Random;
  readonly toRpcFault: (error: unknown, mcpRequest: McpRequest) => RpcFault;
}

interface ResumeMessage {
  readonly attemptId: string;
  readonly responses: JsonObject;
  readonly capabilities: JsonObject;
  /** Whether the client receives progress or log messages. */
  readonly wantsProgress: boolean;
}

/** A message of the relay. The one with `text` or `fault` is the last. */
interface ResumeUpdate {
  readonly text?: string;
  readonly fault?: Pick<RpcFault, 'code' | 'message' | 'status'> & { readonly data?: JsonObject };
  /** Only the newest progress: it replaces all earlier ones. */
  readonly progress?: JsonObject;
  readonly logs?: readonly JsonObject[];
}

/** The name of the mailbox message that resumes a round of input requests. */
export function resumeMessageName(round: number): string {
  return `retry:${round}`;
}

const HOLDER_TIMEOUT_MS = 20_000;

/** Forwards the responses to the holder. Returns the result of the call, or the next input requests. */
export function resumeRemotely(
  parts: RemoteResumeParts,
  sessionKey: SessionKey,
  mcpRequest: McpRequest,
  round: number,
  responses: JsonObject,
): Promise<string> {
  const { signal, capabilities } = mcpRequest;
  const attemptId = parts.random.id();
  const { onProgress, onLog } = createMcpInbound(mcpRequest, attemptId);
  const wantsProgress = onProgress !== undefined || onLog !== undefined;
  const message: ResumeMessage = { attemptId, responses, capabilities, wantsProgress };
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortReason(signal));
    const leave = openRelayReader(parts, sessionKey, attemptId, {
      holderTimeoutMs: HOLDER_TIMEOUT_MS,
      sendRequest: () => parts.mailbox.post(sessionKey, resumeMessageName(round), JSON.stringify(message)),
      onMessage(update) {
        const { text, fault, progress, logs = [] } = JSON.parse(update) as ResumeUpdate;
        for (const log of logs) onLog?.(log);
        if (progress) onProgress?.(progress);
        if (text === undefined && fault === undefined) return false;
        signal.removeEventListener('abort', onAbort);
        if (text !== undefined) resolve(text);
        else reject(new RpcFault(fault?.code ?? 0, fault?.message ?? '', fault));
        return true;
      },
      onLost() {
        signal.removeEventListener('abort', onAbort);
        // The holder may have sent the responses to the server, so the call may have run.
        const detail = 'The replica that ran this call is no longer available.';
        reject(new GatewayError('MCP_OUTCOME_UNCERTAIN', { detail }));
      },
    });
    const onAbort = () => {
      leave();
      reject(abortReason(signal));
    };
    signal.addEventListener('abort', onAbort);
  });
}

/** Log messages and sizes per relay message. Further ones are dropped: all users share the store. */
const MAX_LOGS = 50;
const MAX_PROGRESS_LENGTH = 64 * 1024;

/** Runs at the holder: attaches a request that waits at another replica to the call, and relays the outcome. */
export async function serveRemoteResume(
  parts: RemoteResumeParts,
  sessionKey: SessionKey,
  { call, mcpRequest }: { readonly call: SuspendedCall; readonly mcpRequest: McpRequest },
  message: string,
): Promise<void> {
  const { attemptId, responses, capabilities, wantsProgress } = JSON.parse(message) as ResumeMessage;
  const signal = new LightCancellation();
  const toFault = (error: unknown): ResumeUpdate => {
    // An Error is not serializable as it is: JSON leaves out its message.
    const { code, message: text, data, status } = parts.toRpcFault(error, mcpRequest);
    return { fault: { code, message: text, status, ...(data && { data }) } };
  };
  let outcome: ResumeUpdate | undefined;
  let progress: JsonObject | undefined;
  let logs: JsonObject[] = [];
  let logLength = 0;

  const writer = createRelayWriter(parts, sessionKey, attemptId, {
    takeMessage() {
      if (!outcome && !progress && logs.length === 0) return undefined;
      const text = JSON.stringify({ ...outcome, ...(progress && { progress }), logs } satisfies ResumeUpdate);
      progress = undefined;
      logs = [];
      logLength = 0;
      const isTooLarge = text.length > MAX_RELAY_MESSAGE_LENGTH;
      return {
        text: isTooLarge ? JSON.stringify(toFault(new GatewayError('MCP_RESPONSE_TOO_LARGE'))) : text,
        isLast: outcome !== undefined,
      };
    },
    onCancelled: () => signal.abort(new DOMException('The client disconnected', 'AbortError')),
  });
  const onProgress = (params: JsonObject) => {
    if (JSON.stringify(params).length > MAX_PROGRESS_LENGTH) return;
    progress = params;
    writer.flush();
  };
  const onLog = (params: JsonObject) => {
    const { length } = JSON.stringify(params);
    if (logs.length >= MAX_LOGS || logLength + length > MAX_PROGRESS_LENGTH) return;
    logLength += length;
    logs.push(params);
    writer.flush();
  };
  call.provideResponses(responses);
  try {
    const handlers = wantsProgress ? { onProgress, onLog } : {};
    outcome = { text: await call.attach({ signal, capabilities, ...handlers }) };
  } catch (error) {
    outcome = toFault(error);
  }
  writer.flush();
}
