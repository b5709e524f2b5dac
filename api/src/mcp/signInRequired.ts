import { DIALOGUE_METHODS, type UpstreamResponse, type GatewayError, type JsonObject } from '@behalf/gateway';
import { toRpcFault, RpcFault, rpcCode } from './rpcFault.ts';
import type { McpRequest } from './mcpRequest.ts';
import { isObject } from './rpcMessage.ts';
import type { MethodParts } from './methods/methodParts.ts';
import type { RequestState } from './requestState.ts';
import { URL_ELICITATION_VERSION } from './versions.ts';

/** How often a call asks its user to connect before it is a failed call. */
const MAX_SIGN_IN_PROMPTS = 3;
/** Answers that are longer are asked for again: clients carry the state around. */
const MAX_INPUT_RESPONSES_LENGTH = 32 * 1024;

export interface SignInRequiredInput {
  readonly server: string;
  readonly state: RequestState;
  readonly seal: (state: RequestState) => string;
  /** What is missing, where that is known. */
  readonly signIn: JsonObject | undefined;
  /** Of a tool: the result that says so. */
  readonly response?: UpstreamResponse;
  /** Of what is read: there is no result to say it in. */
  readonly error?: GatewayError;
}

/** What a result of ours says of a sign-in that is needed. Servers cannot say it: their words are taken out before. */
export function readSignInMeta({ _meta }: JsonObject): JsonObject | undefined {
  const auth = isObject(_meta) ? _meta['behalf/auth'] : undefined;
  return isObject(auth) ? auth : undefined;
}

/**
 * That the user must connect a server first, in the best form that their client has: a page to open and then the same
 * call again, an error that names the page, or a failed result with the link in it. The page is ours, its address holds no
 * secret, and it works for nobody else. However many calls find out, it is one link, and one card by its id.
 */
export async function respondSignInRequired(
  { results, baseUrl, connectLinks }: Pick<MethodParts, 'results' | 'baseUrl' | 'connectLinks'>,
  mcpRequest: McpRequest,
  { server, state, seal, response, signIn, error }: SignInRequiredInput,
): Promise<string> {
  const { era, version, capabilities, caller, method } = mcpRequest;
  const url = new URL(connectLinks.buildConnectPath(caller, server, signIn?.['connectUrl']), baseUrl()).href;
  const message = `Connect "${server}" to continue: ${url}`;
  const authMeta: JsonObject = {
    ...signIn,
    code: signIn?.['code'] ?? 'needs_reauth',
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
      data: { elicitations: [{ mode: 'url', elicitationId, url, message }], 'behalf/auth': authMeta },
    });
  }
  if (error) {
    const fault = toRpcFault(error, era);
    throw new RpcFault(fault.code, message, { data: { ...fault.data, 'behalf/auth': authMeta } });
  }
  const content = Array.isArray(response?.result['content']) ? (response.result['content'] as unknown[]) : [];
  return results.fromGateway(era, {
    content: [...content, { type: 'text', text: message }],
    isError: true,
    _meta: { 'behalf/auth': authMeta },
  });
}

/** A dialogue that a sign-in interrupts goes on where it was. */
function trimState({ inputResponses, ...state }: RequestState): RequestState {
  return inputResponses && JSON.stringify(inputResponses).length <= MAX_INPUT_RESPONSES_LENGTH
    ? { ...state, inputResponses }
    : state;
}
