import {
  type CallOutcome,
  type EndpointParts,
  GatewayError,
  type Inbound,
  type JsonObject,
  type ToolSearch,
} from '@behalf/gateway';
import type { ConnectLinks } from '../../oauth/connect.ts';
import { type ObserveRequestParts, createObserveRequest } from '../../ops/observeRequest.ts';
import { endpointKey } from '../endpoint.ts';
import { type McpRequest, createMcpInbound, supportsServerRequests } from '../request.ts';
import type { RequestIdentity, RequestState, RequestStates } from '../requestState.ts';
import { type ResultJson, downgradeContent } from '../results.ts';
import { RpcFault, isObject, rpcCode } from '../rpc.ts';
import type { ClientRequests } from '../session/clientRequests.ts';
import {
  type Elicitations,
  type SignInRequiredInput,
  rememberElicitation,
  respondSignInRequired,
} from '../signIn.ts';
import type { SuspendedCalls } from '../suspendedCalls/suspendedCalls.ts';
import type { Paginate } from './listResult.ts';
import type { TaskIds } from './tasks.ts';

/** What the methods of both eras need. */
export interface MethodParts extends ObserveRequestParts {
  readonly servers: EndpointParts;
  readonly search: ToolSearch;
  readonly results: ResultJson;
  readonly paginate: Paginate;
  readonly states: RequestStates;
  readonly taskIds: TaskIds;
  readonly clientRequests: Pick<ClientRequests, 'createSender'>;
  readonly elicitations: Pick<Elicitations, 'add'>;
  readonly suspendedCalls: Pick<SuspendedCalls, 'begin' | 'resume'>;
  readonly connectLinks: Pick<ConnectLinks, 'buildConnectPath' | 'computeElicitationId'>;
  /** Names requests where they are written down. */
  readonly requestIds: () => string;
  /** Where people reach the gateway. */
  readonly baseUrl: () => string;
}

/** Work on one server, counted and logged. */
type ServerWork = (inbound: Inbound) => Promise<CallOutcome>;

interface CallTarget {
  readonly server: string;
  readonly operation: string;
}

/** Runs one request at one server, and writes what came back as the client's era has it. */
interface ServerCallRunner {
  /** The request as the steps of the gateway see it; also what a retry brought with it. */
  toInbound(mcpRequest: McpRequest): CallInput;
  run(mcpRequest: McpRequest, target: CallTarget, input: CallInput, work: ServerWork): Promise<string>;
}

interface CallInput {
  readonly inbound: Inbound;
  readonly state: RequestState;
}

export function createServerCallRunner(parts: MethodParts): ServerCallRunner {
  const { results, states, clientRequests, suspendedCalls, taskIds, requestIds } = parts;
  const observe = createObserveRequest(parts);

  /** The text of what it came to. */
  async function runAndFormat(
    mcpRequest: McpRequest,
    { server, operation }: CallTarget,
    { inbound, state }: CallInput,
    work: ServerWork,
  ): Promise<string> {
    const { caller, era } = mcpRequest;
    const { signal } = inbound;
    const seal = (next: RequestState) => states.seal(caller, toRequestIdentity(mcpRequest), next);
    const respondSignIn = async (details: Omit<SignInRequiredInput, 'server' | 'state' | 'seal'>) => {
      try {
        return await respondSignInRequired(parts, mcpRequest, { server, state, seal, ...details });
      } catch (error) {
        await rememberElicitation(parts, mcpRequest, server, error);
        throw error;
      }
    };
    let outcome: CallOutcome;
    try {
      outcome = await observe({ caller, door: 'mcp', server, operation, signal }, () => work(inbound));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'MCP_AUTHORIZATION_REQUIRED')
        return respondSignIn({ error, signIn: error.signIn });
      throw error;
    }
    switch (outcome.kind) {
      case 'auth_required':
        return respondSignIn({ signIn: outcome.signIn });
      case 'task': {
        const taskId = taskIds.seal(caller, endpointKey(mcpRequest.endpoint), outcome.task);
        return results.task({ ...outcome.result, taskId });
      }
      case 'input_required':
        return results.inputRequired(withSealedState(outcome.result, seal));
      case 'result':
        return results.fromServer(
          era,
          era === 'legacy' ? downgradeContent(outcome, mcpRequest.version) : outcome,
        );
    }
  }

  return {
    toInbound(mcpRequest) {
      const { caller, session, reply, params, era, capabilities } = mcpRequest;
      const { requestState, inputResponses } = params;
      if (era === 'legacy') {
        const ask =
          session && reply.canSendRequests && supportsServerRequests(capabilities)
            ? clientRequests.createSender(session, reply)
            : undefined;
        return { inbound: createMcpInbound(mcpRequest, requestIds(), ask), state: EMPTY_STATE };
      }
      if (requestState === undefined && inputResponses === undefined)
        return { inbound: createMcpInbound(mcpRequest, requestIds()), state: EMPTY_STATE };
      if (inputResponses !== undefined && !isResponseMap(inputResponses))
        throw new RpcFault(rpcCode.invalidParams, 'params.inputResponses must be an object of results');
      const state =
        requestState === undefined
          ? EMPTY_STATE
          : states.open(caller, toRequestIdentity(mcpRequest), requestState);
      // What a client answers to a question of ours is no answer to the server's; what it had answered before is.
      const isServerPrompt = state.promptCount === undefined;
      const carriedResponses =
        isServerPrompt && isObject(inputResponses) ? inputResponses : state.inputResponses;
      const retry = {
        ...(carriedResponses && { inputResponses: carriedResponses }),
        ...(state.upstream !== undefined && { requestState: state.upstream }),
      };
      return {
        inbound: createMcpInbound(mcpRequest, requestIds(), undefined, retry),
        state: carriedResponses ? { ...state, inputResponses: carriedResponses } : state,
      };
    },
    run(mcpRequest, target, input, work) {
      const { caller, era, capabilities } = mcpRequest;
      const { inbound, state } = input;
      if (state.suspendedCall) return suspendedCalls.resume(mcpRequest, state.suspendedCall);
      if (era === 'legacy' || !supportsServerRequests(capabilities))
        return runAndFormat(mcpRequest, target, input, work);
      // A server of the era before asks while the call goes on; what that is, is known when it does.
      const seal = (next: RequestState) => states.seal(caller, toRequestIdentity(mcpRequest), next);
      return suspendedCalls.begin(mcpRequest, inbound, seal, (suspendedInbound) =>
        runAndFormat(mcpRequest, target, { ...input, inbound: suspendedInbound }, work),
      );
    },
  };
}

const EMPTY_STATE: RequestState = {};

export function isResponseMap(value: unknown): value is JsonObject {
  return isObject(value) && Object.values(value).every(isObject);
}

/** A server's own state goes out under our seal: it comes back for the same user, method and arguments, or not at all. */
function withSealedState(result: JsonObject, seal: (state: RequestState) => string): JsonObject {
  const { requestState, inputRequests } = result;
  return {
    ...(isObject(inputRequests) && { inputRequests }),
    requestState: seal(typeof requestState === 'string' ? { upstream: requestState } : {}),
  };
}

function toRequestIdentity({ endpoint, method, params }: McpRequest): RequestIdentity {
  return { endpoint: endpointKey(endpoint), method, params };
}
