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
import { type Cancel, type Clock, LightCancellation } from '@behalf/kernel';
import { AUTH_META_KEY, toAuthMeta } from '../../http/signInResult.ts';
import { URL_ELICITATION_VERSION } from './era.ts';
import type { MethodParts } from './methods/serverCallRunner.ts';
import { type McpRequest, createMcpInbound } from './request.ts';
import type { RequestState } from './requestState.ts';
import { RpcFault, isObject, rpcCode, toRpcFault } from './rpc.ts';
import type { McpSession } from './session/sessions.ts';
import type { SharedLists } from './session/sharedLists.ts';

/** How often a call asks its user to connect before it is a failed call. */
const MAX_SIGN_IN_PROMPTS = 3;
/** Answers that are longer are asked for again: clients carry the state around. */
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
 * That the user must connect a server first, in the best form that their client has: a page to open and then the same
 * call again, an error that names the page, or a failed result with the link in it. The page is ours, its address holds no
 * secret, and it works for nobody else. However many calls find out, it is one link, and one card by its id.
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
  const supportsUrlElicitation =
    isObject(capabilities['elicitation']) && isObject(capabilities['elicitation']['url']);
  const nextPromptCount = (state.promptCount ?? 0) + 1;
  if (
    supportsUrlElicitation &&
    era === 'modern' &&
    DIALOGUE_METHODS.has(method) &&
    nextPromptCount <= MAX_SIGN_IN_PROMPTS
  ) {
    // The modern era has no names for pages.
    const params = { mode: 'url', url, message };
    return results.inputRequired({
      inputRequests: { connect: { method: 'elicitation/create', params } },
      requestState: seal({ ...trimState(state), promptCount: nextPromptCount }),
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

/** A dialogue that a sign-in interrupts goes on where it was. */
function trimState({ inputResponses, ...state }: RequestState): RequestState {
  return inputResponses && JSON.stringify(inputResponses).length <= MAX_INPUT_RESPONSES_LENGTH
    ? { ...state, inputResponses }
    : state;
}

/**
 * Remembers a page that a client was just told to open (-32042), so that its session hears when that is done. Who is
 * connected already was asked for more than that, a wider scope perhaps: of that nothing here tells the end.
 */
export async function rememberElicitation(
  { servers, elicitations, requestIds }: Pick<MethodParts, 'servers' | 'elicitations' | 'requestIds'>,
  mcpRequest: McpRequest,
  server: string,
  error: unknown,
): Promise<void> {
  const { session } = mcpRequest;
  const id = session && findElicitationId(error);
  if (id === undefined) return;
  try {
    if (await hasUsableCredential(servers, server, createMcpInbound(mcpRequest, requestIds()))) return;
    await elicitations.add(session as NonNullable<typeof session>, { id, server });
  } catch {
    // The store does not answer: the client has the page all the same, and asks again by itself.
  }
}

function findElicitationId(error: unknown): string | undefined {
  if (!(error instanceof RpcFault) || error.code !== rpcCode.urlElicitation) return undefined;
  const { elicitations } = error.data ?? {};
  const [first] = Array.isArray(elicitations) ? (elicitations as unknown[]) : [];
  return isObject(first) && typeof first['elicitationId'] === 'string' ? first['elicitationId'] : undefined;
}

/** A page that a session's user was asked to open, to connect a server. */
interface Elicitation {
  readonly id: string;
  readonly server: string;
}

/** Those of a session that are not done: asked at one replica, told as done at the one that holds its stream. */
export interface Elicitations {
  add(session: McpSession, elicitation: Elicitation): Promise<void>;
  read(session: McpSession): Promise<readonly Elicitation[]>;
  /** False when somebody else took it away. */
  remove(session: McpSession, elicitation: Elicitation): Promise<boolean>;
}

/** Of those that nobody ever opens the oldest are forgotten. */
export const MAX_ELICITATIONS = 16;

export function createElicitations({
  lists,
  changes,
  clock,
}: {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}): Elicitations {
  const listKey = ({ key }: McpSession) => `pages:${key}`;
  const serialize = ({ id, server }: Elicitation) => JSON.stringify([id, server]);

  function change(session: McpSession, work: (list: readonly string[]) => readonly string[]) {
    return lists.change(listKey(session), Math.max(1, session.expiresAt - clock.now()), work);
  }

  return {
    async add(session, elicitation) {
      const entry = serialize(elicitation);
      const isNew = await change(session, (entries) =>
        entries.includes(entry) ? entries : [...entries.slice(1 - MAX_ELICITATIONS), entry],
      );
      if (isNew) await changes.publish({ topic: 'mcpSessions', id: session.key });
    },
    async read(session) {
      const entries = await lists.read(listKey(session));
      return entries.map((entry) => {
        const [id, server] = JSON.parse(entry) as [string, string];
        return { id, server };
      });
    },
    remove(session, elicitation) {
      const entry = serialize(elicitation);
      return change(session, (entries) =>
        entries.includes(entry) ? entries.filter((other) => other !== entry) : entries,
      );
    },
  };
}

/** Tells a session that a page it was asked to open is done: its user has connected that server. */
export type SubscribeElicitations = (
  caller: Principal,
  session: McpSession,
  onCompleted: (elicitationId: string) => void,
) => ElicitationSubscription;

interface ElicitationSubscription {
  /** There may be others. */
  check(): void;
  stop(): void;
}

/** What is read here may be this much older than what was told. */
const RECHECK_MS = 2_000;

/** Listens only while something is not done, and tells each once, whichever replicas the session's streams are at. */
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
}): SubscribeElicitations {
  return (caller, session, onCompleted) => {
    const cancellation = new LightCancellation();
    const inbound: Inbound = { principal: caller, door: 'mcp', signal: cancellation };
    const isStopped = () => cancellation.aborted;
    let unsubscribe: (() => void) | undefined;
    let cancel: Cancel = () => undefined;

    const check = coalesceRuns(async () => {
      const pending = await elicitations.read(session);
      if (isStopped()) return;
      if (pending.length === 0) {
        unsubscribe?.();
        unsubscribe = undefined;
        return;
      }
      // Before it is asked whether they are connected: what happens meanwhile is asked about again.
      unsubscribe ??= changes.subscribe((change) => {
        if (!mayAffectConnection(change, caller)) return;
        check();
        cancel();
        cancel = clock.timer(RECHECK_MS, check);
      });
      for (const elicitation of pending) {
        if (!(await hasUsableCredential(servers, elicitation.server, inbound)) || isStopped()) continue;
        if (await elicitations.remove(session, elicitation)) onCompleted(elicitation.id);
      }
    });

    return {
      check,
      stop() {
        cancellation.abort(new DOMException('The stream was closed', 'AbortError'));
        cancel();
        unsubscribe?.();
      },
    };
  };
}

/** A notice that this caller may have something to present now that they had not. */
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

/** Does the work, and once more when it was wanted again meanwhile. */
export function coalesceRuns(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isRequested = false;
  return () => {
    isRequested = true;
    if (isRunning) return;
    isRunning = true;
    void (async () => {
      while (isRequested) {
        isRequested = false;
        // The store does not answer: the next notice asks again.
        await work().catch(() => undefined);
      }
      isRunning = false;
    })();
  };
}
