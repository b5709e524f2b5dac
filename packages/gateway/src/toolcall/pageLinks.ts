import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';

/** A page that a server wants opened, with its words. */
interface PageLink {
  readonly url: string;
  readonly message: string;
}

/** The pages that are asked for, where nothing else is: those can be told to who cannot be sent there. */
export function readPageLinks(inputRequests: readonly JsonObject[]): readonly PageLink[] | undefined {
  const links: PageLink[] = [];
  for (const { method = 'elicitation/create', params } of inputRequests) {
    const { mode, url, message } = (params ?? {}) as JsonObject;
    if (method !== 'elicitation/create' || mode !== 'url' || typeof url !== 'string') return undefined;
    links.push({ url, message: typeof message === 'string' ? message : '' });
  }
  return links.length === 0 ? undefined : links;
}

/** A client from before pages could be asked for reads the address in the result, and its user calls once more. */
export function toPageLinksResult(
  method: string,
  { name }: ServerSnapshot,
  links: readonly PageLink[],
): UpstreamResponse {
  const lines = links.map(({ url, message }) => `${message} ${url}`.trim());
  const text = `${name} requires you to open a page first. Open it, then call the tool again.\n${lines.join('\n')}`;
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
