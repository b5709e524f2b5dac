import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';

/** A page that a server wants opened, with its words. */
interface Link {
  readonly url: string;
  readonly message: string;
}

/** The pages that are asked for, where nothing else is: those can be told to who cannot be sent there. */
export function linksOf(questions: readonly JsonObject[]): readonly Link[] | undefined {
  const links: Link[] = [];
  for (const { method = 'elicitation/create', params } of questions) {
    const { mode, url, message } = (params ?? {}) as JsonObject;
    if (method !== 'elicitation/create' || mode !== 'url' || typeof url !== 'string') return undefined;
    links.push({ url, message: typeof message === 'string' ? message : '' });
  }
  return links.length === 0 ? undefined : links;
}

/** A client from before pages could be asked for reads the address in the result, and its user calls once more. */
export function linksResult(
  method: string,
  { name }: ServerSnapshot,
  links: readonly Link[],
): UpstreamResponse {
  const lines = links.map(({ url, message }) => `${message} ${url}`.trim());
  const text = `${name} wants a page opened first. Open it, then call again.\n${lines.join('\n')}`;
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
