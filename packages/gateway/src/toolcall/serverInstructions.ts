import type { ItemList } from '../catalog/listAll.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { truncateText, sanitizeText } from '../shaping/sanitizeText.ts';
import type { ServerClaims } from '../upstream/upstream.ts';
import { ownerKey, type LoadToolsParts } from './loadTools.ts';

/** What a model should know of a server, and who says so. */
export interface ServerInstructions {
  readonly text: string;
  readonly source: 'operator' | 'server';
}

/** What came when the conversation opened. */
interface InstructionSource {
  readonly claims: Pick<ServerClaims, 'instructions'>;
  /** Takes out what the server was shown to let us in. */
  readonly maskText: (text: string) => string;
}

/** Of one server. It is sent with every conversation. */
const MAX_INSTRUCTIONS_LENGTH = 2_000;

/**
 * The list with what its server says of itself, where the operator wants that passed on (`serverInstructions: true`). It is kept
 * with the tools, so it is everybody's for a shared server and one user's otherwise.
 */
export function withInstructions(
  listed: ItemList,
  { settings }: ServerSnapshot,
  { claims, maskText }: InstructionSource,
): ItemList {
  if (settings.serverInstructions !== true || claims.instructions === undefined) return listed;
  const text = truncateText(maskText(sanitizeText(claims.instructions)), MAX_INSTRUCTIONS_LENGTH);
  return text === '' ? listed : { ...listed, instructions: text };
}

/** As `serverInstructions` has it. Of a server's own words what is known: nobody waits for it. */
export function getServerInstructions(
  { catalog }: Pick<LoadToolsParts, 'catalog'>,
  principal: Principal,
  server: ServerSnapshot,
): ServerInstructions | undefined {
  const { serverInstructions: configured } = server.settings;
  // What a user wrote about a server of theirs is not for the models of others.
  if (configured === false || server.source === 'user') return undefined;
  if (configured !== true)
    return configured.trim() === ''
      ? undefined
      : { text: truncateText(configured, MAX_INSTRUCTIONS_LENGTH), source: 'operator' };
  const text = catalog.peek(server, ownerKey(server, principal))?.instructions;
  return text === undefined ? undefined : { text, source: 'server' };
}
