import { DIALOGUE_METHODS, type UpstreamResponse, type GatewayError, type JsonObject } from '@behalf/gateway';
import { faultOf, RpcFault, rpcCode } from './rpcFault.ts';
import type { Asked } from './asked.ts';
import { isObject } from './message.ts';
import type { MethodParts } from './methods/methodParts.ts';
import type { State } from './requestState.ts';
import { URL_ELICITATION_VERSION } from './versions.ts';

/** How often a call asks its user to connect before it is a failed call. */
const MOST_ASKED = 3;
/** Answers that are longer are asked for again: clients carry the state around. */
const LONGEST_GIVEN = 32 * 1024;

export interface Needed {
  readonly server: string;
  readonly state: State;
  readonly seal: (state: State) => string;
  /** What is missing, where that is known. */
  readonly signIn: JsonObject | undefined;
  /** Of a tool: the result that says so. */
  readonly answer?: UpstreamResponse;
  /** Of what is read: there is no result to say it in. */
  readonly error?: GatewayError;
}

/** What a result of ours says of a sign-in that is needed. Servers cannot say it: their words are taken out before. */
export function signInOf({ _meta }: JsonObject): JsonObject | undefined {
  const auth = isObject(_meta) ? _meta['behalf/auth'] : undefined;
  return isObject(auth) ? auth : undefined;
}

/**
 * That the user must connect a server first, in the best form that their client has: a page to open and then the same
 * call again, an error that names the page, or a failed result with the link in it. The page is ours, its address holds no
 * secret, and it works for nobody else. However many calls find out, it is one link, and one card by its id.
 */
export async function authNeeded(
  { results, base, links }: Pick<MethodParts, 'results' | 'base' | 'links'>,
  asked: Asked,
  { server, state, seal, answer, signIn, error }: Needed,
): Promise<string> {
  const { era, version, capabilities, caller, method } = asked;
  const url = new URL(links.pathOf(caller, server, signIn?.['connectUrl']), base()).href;
  const message = `Connect "${server}" to go on: ${url}`;
  const data: JsonObject = { ...signIn, code: signIn?.['code'] ?? 'needs_reauth', server, connectUrl: url };
  const opensPages = isObject(capabilities['elicitation']) && isObject(capabilities['elicitation']['url']);
  const times = (state.asked ?? 0) + 1;
  if (opensPages && era === 'modern' && DIALOGUE_METHODS.has(method) && times <= MOST_ASKED) {
    // The modern era has no names for pages.
    const params = { mode: 'url', url, message };
    return results.inputRequired({
      inputRequests: { connect: { method: 'elicitation/create', params } },
      requestState: seal({ ...kept(state), asked: times }),
    });
  }
  if (opensPages && era === 'legacy' && version >= URL_ELICITATION_VERSION) {
    const elicitationId = await links.cardOf(caller, server);
    throw new RpcFault(rpcCode.urlElicitation, message, {
      data: { elicitations: [{ mode: 'url', elicitationId, url, message }], 'behalf/auth': data },
    });
  }
  if (error) {
    const fault = faultOf(error, era);
    throw new RpcFault(fault.code, message, { data: { ...fault.data, 'behalf/auth': data } });
  }
  const content = Array.isArray(answer?.result['content']) ? (answer.result['content'] as unknown[]) : [];
  return results.own(era, {
    content: [...content, { type: 'text', text: message }],
    isError: true,
    _meta: { 'behalf/auth': data },
  });
}

/** A dialogue that a sign-in interrupts goes on where it was. */
function kept({ given, ...state }: State): State {
  return given && JSON.stringify(given).length <= LONGEST_GIVEN ? { ...state, given } : state;
}
