import {
  endpointServers,
  getServerInstructions,
  type Allowed,
  type EndpointParts,
  type Principal,
} from '@behalf/gateway';
import type { DoorEndpoint } from './doorEndpoint.ts';
import { CALL_TOOL, SEARCH_TOOL } from './methods/searchingTools.ts';

/** What a model should know of the servers behind an endpoint: undefined when there is nothing to say. */
export type Instructions = (caller: Principal, endpoint: DoorEndpoint) => string | undefined;

const MOST_IN_ALL = 16_000;
const MOST_OF_ONE = 2_500;
const MOST_OF_LINE = 120;
const MOST_OF_SERVERS = 6_000;

/**
 * The operator's words about each server, or the server's own, one after the other. Each line of a server's own is marked as
 * quoted: none of them can begin what looks like the words of another, or of the operator.
 */
export function createInstructions(parts: EndpointParts): Instructions {
  return (caller, endpoint) => {
    const servers = endpointServers(parts, caller, endpoint);
    const texts = servers.flatMap((server) => {
      const said = getServerInstructions(parts, caller, server);
      if (!said) return [];
      if (endpoint.kind === 'one') return [said.text];
      if (said.source === 'operator') return [`## ${server.name}\n${said.text}`];
      return [`## ${server.name} (in the words of that server)\n${quoted(said.text)}`];
    });
    if (endpoint.search) texts.unshift(howToSearch(servers));
    const whole = texts.join('\n\n').slice(0, MOST_IN_ALL);
    return whole === '' ? undefined : whole;
  };
}

function quoted(text: string): string {
  return text.replace(/^/gm, '> ').slice(0, MOST_OF_ONE);
}

/** A model that sees two tools has to know that there are others, and of what kind. */
function howToSearch(servers: readonly Allowed[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const { name, source, settings } of servers) {
    const about = source === 'user' ? undefined : settings.description?.split('\n', 1)[0];
    const line = about ? `- ${name}: ${about.slice(0, MOST_OF_LINE)}` : `- ${name}`;
    length += line.length;
    if (length > MOST_OF_SERVERS) break;
    lines.push(line);
  }
  const more = servers.length - lines.length;
  return [
    `The tools of the servers below are not listed. Find them with ${SEARCH_TOOL}: say in plain words what you want to do, and name the server if you know it.`,
    `Then run one with ${CALL_TOOL}, by the name that was found and with arguments that fit its inputSchema. Search again in other words, or with a larger limit, before you say that something cannot be done.`,
    ...['', 'Servers:', ...lines, ...(more > 0 ? [`and ${more} more`] : [])],
  ].join('\n');
}
