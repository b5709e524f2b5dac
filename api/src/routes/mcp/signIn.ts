import {
  DIALOGUE_METHODS,
  type EndpointParts,
  type GatewayError,
  type Inbound,
  type JsonObject,
  type Principal,
  type SignInRequirement,
  hasUsableCredential,
  parseVariablesKey,
  userIdOfHolder,
} from '@behalf/gateway';
import type { ChangeEvent, ChangeFeed } from '@behalf/gateway/ports';
import { type Cancel, type Clock, LightCancellation, coalesce, isObject } from '@behalf/kernel';
import { AUTH_META_KEY, toAuthMeta } from '../../http/signInResult.ts';
import { URL_ELICITATION_VERSION } from './era.ts';
import type { MethodParts } from './methods/serverCallRunner.ts';
import { type McpRequest, createMcpInbound } from './request.ts';
import type { RequestState } from './requestState.ts';
import { RpcFault, rpcCode, toRpcFault } from './rpc.ts';
import type { Elicitations } from './session/sessionLists.ts';
import type { McpSession } from './session/sessions.ts';

/** After this many sign-in prompts, a call fails. */
const MAX_SIGN_IN_PROMPTS = 3;
/** Longer responses are not carried in the state: the gateway requests them from the client again. */
const MAX_INPUT_RESPONSES_LENGTH = 32 * 1024;

export interface SignInRequiredInput {
  readonly server: string;
  readonly state: RequestState;
  readonly seal: (state: RequestState) => string;
  /** The required sign-in, if the error that reports it names one. */
  readonly signIn: SignInRequirement | undefined;
  /** The error to respond with, for requests other than tool calls. A tool call gets a failed tool result. */
  readonly error?: GatewayError;
}

/**
 * Responds that the user must connect a server first, in the best form that the client supports:
 * - modern URL elicitation: `input_required` with the connect page, and a retry of the request;
 * - legacy URL elicitation: the error -32042 with the connect page;
 * - otherwise an error, or a failed tool result, that contains the link.
 * The connect page belongs to the gateway. Its URL contains no secret and works only for this user. Concurrent calls return the
 * same link and the same elicitation id.
 */
export async function respondSignInRequired(
  { results, baseUrl, connectLinks }: Pick<MethodParts, 'results' | 'baseUrl' | 'connectLinks'>,
  mcpRequest: McpRequest,
  { server, state, seal, signIn, error }: SignInRequiredInput,
): Promise<string> {
  const { era, version, capabilities, caller, method } = mcpRequest;
  const url = new URL(connectLinks.buildConnectPath(caller, server, signIn?.connectUrl), baseUrl()).href;
  const message = `Connect "${server}" to continue: ${url}`;
  const authMeta: JsonObject = {
    ...(signIn ? toAuthMeta(signIn) : { code: 'needs_reauth' }),
    server,
    connectUrl: url,
  };
  const { elicitation } = capabilities;
  const supportsUrlElicitation = isObject(elicitation) && isObject(elicitation['url']);
  const promptCount = (state.promptCount ?? 0) + 1;
  if (
    supportsUrlElicitation &&
    era === 'modern' &&
    DIALOGUE_METHODS.has(method) &&
    promptCount <= MAX_SIGN_IN_PROMPTS
  ) {
    // The modern era defines no `elicitationId`.
    const params = { mode: 'url', url, message };
    return results.inputRequired({
      inputRequests: { connect: { method: 'elicitation/create', params } },
      requestState: seal({ ...withoutLongResponses(state), promptCount }),
    });
  }
  if (supportsUrlElicitation && era === 'legacy' && version >= URL_ELICITATION_VERSION) {
    const elicitationId = await connectLinks.computeElicitationId(caller, server);
    throw new RpcFault(rpcCode.urlElicitation, message, {
      data: { elicitations: [{ mode: 'url', elicitationId, url, message }], [AUTH_META_KEY]: authMeta },
    });
  }
  if (error) {
    const fault = toRpcFault(error, era);
    throw new RpcFault(fault.code, message, { data: { ...fault.data, [AUTH_META_KEY]: authMeta } });
  }
  return results.fromGateway(era, {
    content: [...(signIn ? [{ type: 'text', text: signIn.text }] : []), { type: 'text', text: message }],
    isError: true,
    _meta: { [AUTH_META_KEY]: authMeta },
  });
}

/** Keeps the responses of an interrupted dialogue, so that it continues after the sign-in. */
function withoutLongResponses({ inputResponses, ...state }: RequestState): RequestState {
  return inputResponses && JSON.stringify(inputResponses).length <= MAX_INPUT_RESPONSES_LENGTH
    ? { ...state, inputResponses }
    : state;
}

/**
 * Stores the elicitation of an error -32042, so that the session is notified when the user has connected the server. If the user
 * already has a credential, the sign-in is for a wider scope, and the gateway cannot detect its completion.
 */
export async function rememberElicitation(
  { servers, elicitations, requestIds }: Pick<MethodParts, 'servers' | 'elicitations' | 'requestIds'>,
  mcpRequest: McpRequest,
  server: string,
  error: unknown,
): Promise<void> {
  const { session } = mcpRequest;
  const id = findElicitationId(error);
  if (!session || id === undefined) return;
  try {
    if (await hasUsableCredential(servers, server, createMcpInbound(mcpRequest, requestIds()))) return;
    await elicitations.add(session, { id, server });
  } catch {
    // The store failed. The client has the link, and can retry the request without a notification.
  }
}

function findElicitationId(error: unknown): string | undefined {
  if (!(error instanceof RpcFault) || error.code !== rpcCode.urlElicitation) return undefined;
  const { elicitations } = error.data ?? {};
  const [first] = Array.isArray(elicitations) ? (elicitations as unknown[]) : [];
  return isObject(first) && typeof first['elicitationId'] === 'string' ? first['elicitationId'] : undefined;
}

/** Caches of credentials may be this old after a change notification. */
const RECHECK_MS = 2_000;

export type SubscribeElicitations = ReturnType<typeof createSubscribeElicitations>;

/**
 * Notifies the stream of a session when the user has connected a server that an elicitation named. Each completion is reported
 * once, at one replica. Subscribes to the change feed only while an elicitation is open.
 */
export function createSubscribeElicitations({
  servers,
  elicitations,
  changes,
  clock,
}: {
  readonly servers: EndpointParts;
  readonly elicitations: Pick<Elicitations, 'read' | 'remove'>;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
}) {
  return (caller: Principal, session: McpSession, onCompleted: (elicitationId: string) => void) => {
    const cancellation = new LightCancellation();
    const inbound: Inbound = { principal: caller, door: 'mcp', signal: cancellation };
    const isStopped = () => cancellation.aborted;
    let unsubscribe: (() => void) | undefined;
    let cancelRecheck: Cancel = () => undefined;

    const runCheck = coalesce(async () => {
      const pending = await elicitations.read(session);
      if (isStopped()) return;
      if (pending.length === 0) {
        unsubscribe?.();
        unsubscribe = undefined;
        return;
      }
      // Subscribe before reading credentials, so that a change during the read causes another check.
      unsubscribe ??= changes.subscribe((change) => {
        if (!mayAffectConnection(change, caller)) return;
        check();
        cancelRecheck();
        cancelRecheck = clock.timer(RECHECK_MS, check);
      });
      for (const elicitation of pending) {
        if (!(await hasUsableCredential(servers, elicitation.server, inbound)) || isStopped()) continue;
        if (await elicitations.remove(session, elicitation)) onCompleted(elicitation.id);
      }
    });
    // If the store fails, the next change causes another check.
    const check = () => void runCheck().catch(() => undefined);

    return {
      /** Reads the elicitations of the session again. */
      check,
      stop() {
        cancellation.abort(new DOMException('The stream was closed', 'AbortError'));
        cancelRecheck();
        unsubscribe?.();
      },
    };
  };
}

/** Whether a change may give this user a credential for a server. */
function mayAffectConnection({ topic, id }: ChangeEvent, { tenant, userId }: Principal): boolean {
  if (topic !== 'credentials' && topic !== 'variables') return false;
  if (id === '*') return true;
  if (topic === 'variables') {
    const owner = parseVariablesKey(id);
    return owner?.tenant === tenant && owner.userId === userId;
  }
  const [changedTenant, holder = ''] = JSON.parse(id) as string[];
  return changedTenant === tenant && userIdOfHolder(holder) === userId;
}
