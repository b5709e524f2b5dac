import type { DiscoverToolsView, DiscoveredTool, ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { collectPresentedSecrets, redactSecrets } from '../../toolcall/mask.ts';
import type { ItemList } from '../../upstream/listAll.ts';
import type { RemoteTarget } from '../../upstream/target.ts';
import type { JsonObject } from '../../upstream/upstream.ts';
import { UpstreamError, type UpstreamReason } from '../../upstream/upstreamError.ts';
import type { UserServer } from '../definition.ts';
import { type Fields, isMapping } from '../fields.ts';
import { validateNewServer } from './create.ts';
import type { DiscoverParts } from './discoverTools.ts';
import { listDefinitionTools } from './probe.ts';

type DraftProbe =
  | { readonly tools: Extract<DiscoverToolsView, { outcome: 'tools' }> }
  | { readonly refusal: CredentialRefusal };

/**
 * Judges a definition as saving it would, and brings its tools home. `targetOf`: asked only once everything else allows it, so that no
 * credential is made ready for an address that may not be chosen.
 */
export async function probeDraft(
  parts: DiscoverParts,
  principal: UserPrincipal,
  definition: Fields,
  resolveTarget: (server: UserServer) => RemoteTarget | Promise<RemoteTarget>,
): Promise<DraftProbe> {
  const probes: DraftProbe[] = [];
  const inspect = async (server: UserServer) => {
    probes.push(await listTools(parts, server, await resolveTarget(server)));
    return {};
  };
  await validateNewServer({ ...parts, inspect }, principal, definition);
  const [probe] = probes;
  // It has a place for a value that only a saved server can be given.
  if (!probe) throw new GatewayError('MCP_CONFIG_INVALID');
  return probe;
}

async function listTools(
  parts: DiscoverParts,
  server: UserServer,
  target: RemoteTarget,
): Promise<DraftProbe> {
  try {
    const toolList = await listDefinitionTools(parts, server, target);
    return { tools: { outcome: 'tools', ...toDiscoveredTools(toolList, collectPresentedSecrets(target)) } };
  } catch (error) {
    const refusal = toCredentialRefusal(error);
    if (refusal) return { refusal };
    throw toProbeError(error);
  }
}

const MAX_TOOLS = 500;
const MAX_NAME_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 4_096;
const MAX_SCHEMA_LENGTH = 32 * 1024;
/** Of all schemas together: an answer that somebody waits for, from a server that nobody vouches for. */
const MAX_TOTAL_SCHEMA_LENGTH = 1024 * 1024;

/**
 * The tools of a server that nobody saved, within bounds, and without what it was shown to let us in: a server that repeats a key or a
 * token has it repeated to nobody.
 */
export function toDiscoveredTools(
  { items, complete }: Pick<ItemList, 'items' | 'complete'>,
  presentedSecrets: readonly string[],
): { readonly tools: DiscoveredTool[]; readonly incomplete?: true } {
  const namedItems = items.filter(({ name }) => typeof name === 'string' && name !== '');
  let remaining = MAX_TOTAL_SCHEMA_LENGTH;
  const tools = namedItems.slice(0, MAX_TOOLS).map((item): DiscoveredTool => {
    const schema = readSchema(item, presentedSecrets, Math.min(remaining, MAX_SCHEMA_LENGTH));
    remaining -= schema.size;
    const title = redactText(item['title'], presentedSecrets, MAX_NAME_LENGTH);
    return {
      name: redactText(item['name'], presentedSecrets, MAX_NAME_LENGTH) ?? '',
      ...(title !== undefined && { title }),
      description: redactText(item['description'], presentedSecrets, MAX_DESCRIPTION_LENGTH) ?? '',
      inputSchema: schema.value,
      ...(schema.isOmitted && { schemaOmitted: true }),
    };
  });
  return { tools, ...((!complete || namedItems.length > MAX_TOOLS) && { incomplete: true }) };
}

/** Masked before it is cut: half a key is still half a key. */
function redactText(
  value: unknown,
  presentedSecrets: readonly string[],
  maxLength: number,
): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = redactSecrets(value, presentedSecrets);
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

const ANY_OBJECT_SCHEMA = { type: 'object' };

function readSchema(
  { inputSchema }: JsonObject,
  presentedSecrets: readonly string[],
  maxLength: number,
): { readonly value: Record<string, unknown>; readonly size: number; readonly isOmitted: boolean } {
  if (!isMapping(inputSchema)) return { value: ANY_OBJECT_SCHEMA, size: 0, isOmitted: false };
  const text = JSON.stringify(inputSchema);
  // As it stands in JSON. A schema that repeats what it was shown is not mended but left out.
  const containsSecret = presentedSecrets.some((value) => text.includes(JSON.stringify(value).slice(1, -1)));
  if (containsSecret || text.length > maxLength)
    return { value: ANY_OBJECT_SCHEMA, size: 0, isOmitted: true };
  return { value: inputSchema, size: text.length, isOmitted: false };
}

const refusalReasons = [
  'unauthorized',
  'forbidden',
  'insufficient_scope',
] as const satisfies UpstreamReason[];
export type CredentialRefusalReason = (typeof refusalReasons)[number];

/** The server wants another credential than it was shown, or one at all. */
export interface CredentialRefusal {
  readonly reason: CredentialRefusalReason;
  readonly error: UpstreamError;
}

/** Undefined: it failed in another way. */
function toCredentialRefusal(error: unknown): CredentialRefusal | undefined {
  if (!(error instanceof UpstreamError)) return undefined;
  const reason = refusalReasons.find((candidate) => candidate === error.reason);
  return reason && { reason, error };
}

/** In our own words, by the kind of failure alone: nothing that the server, or whoever else is at that address, said is in them. */
const messages: Partial<Record<ErrorCode, string>> = {
  MCP_PROTOCOL_ERROR:
    'The endpoint at this address does not respond as an MCP server. Check the address and the transport.',
  MCP_RESPONSE_TOO_LARGE: 'The response is too large.',
  MCP_TIMEOUT: 'The server did not respond in time.',
  MCP_RATE_LIMITED: 'The server limits the request rate. Try again later.',
};

const reportedCodes: readonly ErrorCode[] = [
  'MCP_DOMAIN_NOT_ALLOWED',
  'MCP_PROTOCOL_ERROR',
  'MCP_RESPONSE_TOO_LARGE',
];

/** What a caller is told of a server that could not be asked: always that it is the server, never what it said. */
function toProbeError(error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const code = reportedCodes.find((candidate) => candidate === error.code) ?? 'MCP_UNREACHABLE';
  const detail = messages[error.code];
  return new GatewayError(code, { ...(detail !== undefined && { detail }), cause: error });
}
