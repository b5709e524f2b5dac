import type { DiscoverToolsView, DiscoveredTool, ErrorCode } from '@behalf/contracts';
import { isObject } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { collectPresentedSecrets, redactSecrets } from '../toolcall/mask.ts';
import type { ItemList } from '../upstream/listAll.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';
import { validateNewServer } from './create.ts';
import type { UserServer } from '../definitions/definition.ts';
import type { ConfigureParts } from './editing.ts';
import type { Fields } from './fields.ts';
import { type ProbeParts, definitionProbeLimits, probeTools } from './probe.ts';

export interface DraftProbeParts extends Omit<ConfigureParts, 'inspect'>, ProbeParts {}

type DraftProbe =
  | { readonly tools: Extract<DiscoverToolsView, { outcome: 'tools' }> }
  | { readonly refusal: CredentialRefusal };

/**
 * Validates a definition like a new server and lists its tools. `resolveTarget` runs only after all checks, so that no
 * credential is prepared for a forbidden address.
 */
export async function probeDraft(
  parts: DraftProbeParts,
  principal: UserPrincipal,
  definition: Fields,
  resolveTarget: (server: UserServer) => RemoteTarget | Promise<RemoteTarget>,
): Promise<DraftProbe> {
  const inspect = async (server: UserServer) => listTools(parts, server, await resolveTarget(server));
  const { probe } = await validateNewServer({ ...parts, inspect }, principal, definition);
  // Null if the definition needs a user's value, which only a saved server can have.
  if (!probe) throw new GatewayError('MCP_CONFIG_INVALID');
  return probe;
}

async function listTools(parts: ProbeParts, server: UserServer, target: RemoteTarget): Promise<DraftProbe> {
  try {
    const toolList = await probeTools(parts, server, target, definitionProbeLimits);
    return { tools: { outcome: 'tools', ...toDiscoveredTools(toolList, collectPresentedSecrets(target)) } };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const reason = refusalReasons.find((candidate) => candidate === error.reason);
    if (reason) return { refusal: { reason, error } };
    throw toProbeError(error);
  }
}

const MAX_TOOLS = 500;
const MAX_NAME_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 4_096;
const MAX_SCHEMA_LENGTH = 32 * 1024;
/** Limits all schemas together, because the server is untrusted and a user waits for the response. */
const MAX_TOTAL_SCHEMA_LENGTH = 1024 * 1024;

/**
 * The tools of an unsaved server, limited in size and without the secrets that were presented to it: a server must not
 * get a key or a token displayed by repeating it.
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

/** Redacts before truncating, because a truncated secret would not be recognized. */
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
  if (!isObject(inputSchema)) return { value: ANY_OBJECT_SCHEMA, size: 0, isOmitted: false };
  const text = JSON.stringify(inputSchema);
  // Compares with the secret as JSON escapes it. A schema with a secret is omitted instead of redacted.
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

/** The server rejected the presented credential, or requires one. */
export interface CredentialRefusal {
  readonly reason: CredentialRefusalReason;
  readonly error: UpstreamError;
}

/** The gateway's own texts for each kind of failure. They contain nothing that the server sent. */
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

function toProbeError(error: UpstreamError): GatewayError {
  const code = reportedCodes.find((candidate) => candidate === error.code) ?? 'MCP_UNREACHABLE';
  const detail = messages[error.code];
  return new GatewayError(code, { ...(detail !== undefined && { detail }), cause: error });
}
