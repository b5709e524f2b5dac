import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';

/** A page that a server wants opened, with its words. */
interface UrlElicitation {
  readonly url: string;
  readonly message: string;
}

/** The pages that are asked for, where nothing else is: those can be told to who cannot be sent there. */
export function extractUrlElicitations(
  inputRequests: readonly JsonObject[],
): readonly UrlElicitation[] | undefined {
  const elicitations: UrlElicitation[] = [];
  for (const { method = 'elicitation/create', params } of inputRequests) {
    const { mode, url, message } = (params ?? {}) as JsonObject;
    if (method !== 'elicitation/create' || mode !== 'url' || typeof url !== 'string') return undefined;
    elicitations.push({ url, message: typeof message === 'string' ? message : '' });
  }
  return elicitations.length === 0 ? undefined : elicitations;
}

/** A client from before pages could be asked for reads the address in the result, and its user calls once more. */
export function toUrlElicitationResult(
  method: string,
  { name }: ServerSnapshot,
  elicitations: readonly UrlElicitation[],
): UpstreamResponse {
  const lines = elicitations.map(({ url, message }) => `${message} ${url}`.trim());
  const text = `${name} requires you to open a page first. Open the page, then repeat the request.\n${lines.join('\n')}`;
  if (method !== 'tools/call') throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', { detail: text });
  return {
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'behalf/error': { code: 'MCP_DIALOGUE_UNSUPPORTED' } },
    },
    json: undefined,
  };
}
