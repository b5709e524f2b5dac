import {
  endpointServers,
  getServerInstructions,
  type AllowedServer,
  type EndpointParts,
  type Principal,
} from '@behalf/gateway';
import type { ClientEndpoint } from './clientEndpoint.ts';
import { CALL_TOOL, SEARCH_TOOL } from './methods/searchToolDefinitions.ts';

/** What a model should know of the servers behind an endpoint: undefined when there is nothing to say. */
export type Instructions = (caller: Principal, endpoint: ClientEndpoint) => string | undefined;

const MAX_LENGTH = 16_000;
const MAX_SERVER_TEXT_LENGTH = 2_500;
const MAX_LINE_LENGTH = 120;
const MAX_SERVER_LIST_LENGTH = 6_000;

/**
 * The operator's words about each server, or the server's own, one after the other. Each line of a server's own is marked as
 * quoted: none of them can begin what looks like the words of another, or of the operator.
 */
export function createInstructions(parts: EndpointParts): Instructions {
  return (caller, endpoint) => {
    const servers = endpointServers(parts, caller, endpoint);
    const texts = servers.flatMap((server) => {
      const serverText = getServerInstructions(parts, caller, server);
      if (!serverText) return [];
      if (endpoint.kind === 'one') return [serverText.text];
      if (serverText.source === 'operator') return [`## ${server.name}\n${serverText.text}`];
      return [`## ${server.name} (text provided by that server)\n${quoteLines(serverText.text)}`];
    });
    if (endpoint.search) texts.unshift(searchInstructions(servers));
    const joined = texts.join('\n\n').slice(0, MAX_LENGTH);
    return joined === '' ? undefined : joined;
  };
}

function quoteLines(text: string): string {
  return text.replace(/^/gm, '> ').slice(0, MAX_SERVER_TEXT_LENGTH);
}

/** A model that sees two tools has to know that there are others, and of what kind. */
function searchInstructions(servers: readonly AllowedServer[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const { name, source, settings } of servers) {
    const summary = source === 'user' ? undefined : settings.description?.split('\n', 1)[0];
    const line = summary ? `- ${name}: ${summary.slice(0, MAX_LINE_LENGTH)}` : `- ${name}`;
    length += line.length;
    if (length > MAX_SERVER_LIST_LENGTH) break;
    lines.push(line);
  }
  const omitted = servers.length - lines.length;
  return [
    `The tools of the servers below are not listed. Find them with ${SEARCH_TOOL}: describe what you want to do, and name the server if you know it.`,
    `Then run one with ${CALL_TOOL}, using the name from the result and arguments that match its inputSchema. Search again with different words or a larger limit before you conclude that something cannot be done.`,
    ...['', 'Servers:', ...lines, ...(omitted > 0 ? [`and ${omitted} more`] : [])],
  ].join('\n');
}
