import type { Listed } from '../catalog/listAll.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { truncateText, sanitizeText } from '../shaping/sanitizeText.ts';
import type { ServerClaims } from '../upstream/upstream.ts';
import { holderKey, type LoadParts } from './loadTools.ts';

/** What a model should know of a server, and who says so. */
export interface ServerWords {
  readonly text: string;
  readonly by: 'operator' | 'server';
}

/** What came when the conversation opened. */
interface Said {
  readonly claims: Pick<ServerClaims, 'instructions'>;
  /** Takes out what the server was shown to let us in. */
  readonly masked: (text: string) => string;
}

/** Of one server. It is sent with every conversation. */
const MOST_WORDS = 2_000;

/**
 * The list with what its server says of itself, where the operator wants that passed on (`serverInstructions: true`). It is kept
 * with the tools, so it is everybody's for a shared server and one user's otherwise.
 */
export function withWords(listed: Listed, { settings }: ServerSnapshot, { claims, masked }: Said): Listed {
  if (settings.serverInstructions !== true || claims.instructions === undefined) return listed;
  const text = truncateText(masked(sanitizeText(claims.instructions)), MOST_WORDS);
  return text === '' ? listed : { ...listed, instructions: text };
}

/** As `serverInstructions` has it. Of a server's own words what is known: nobody waits for it. */
export function wordsOf(
  { catalog }: Pick<LoadParts, 'catalog'>,
  principal: Principal,
  server: ServerSnapshot,
): ServerWords | undefined {
  const { serverInstructions: said } = server.settings;
  // What a user wrote about a server of theirs is not for the models of others.
  if (said === false || server.source === 'user') return undefined;
  if (said !== true)
    return said.trim() === '' ? undefined : { text: truncateText(said, MOST_WORDS), by: 'operator' };
  const text = catalog.peek(server, holderKey(server, principal))?.instructions;
  return text === undefined ? undefined : { text, by: 'server' };
}
