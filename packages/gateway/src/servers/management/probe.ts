import { createFinding } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ItemList, ListAll } from '../../upstream/listAll.ts';
import type { OpenUpstream } from '../../upstream/openUpstream.ts';
import type { RemoteTarget } from '../../upstream/target.ts';
import { toGatewayError } from '../../upstream/toGatewayError.ts';
import { UpstreamError } from '../../upstream/upstreamError.ts';
import { type UserServer, mayRequireOAuth } from '../definition.ts';
import { renderTarget } from '../render.ts';
import type { ConfigureParts, ServerProbe } from './editing.ts';
import { createConfigError } from './validate.ts';

/** Somebody waits in front of a form. */
const PROBE_TIMEOUT_MS = 20_000;

export interface ListDefinitionParts {
  readonly open: OpenUpstream;
  readonly listAll: ListAll;
}

/** Where a definition leads with nothing but what it holds itself. */
export function toRemoteTarget({ settings }: UserServer): RemoteTarget {
  const rendered = renderTarget(settings, {}, { audience: 'user-server', inheritedEnv: {} });
  if (!rendered.ok)
    throw createConfigError([createFinding([rendered.field], rendered.code, 'cannot be used')]);
  if (rendered.target.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  return rendered.target;
}

/**
 * The tools of a server that is not stored: one conversation, closed again. It shares nothing with those of other servers, and leaves
 * nothing behind.
 */
export async function listDefinitionTools(
  { open, listAll }: ListDefinitionParts,
  { id, settings }: UserServer,
  target: RemoteTarget,
): Promise<ItemList> {
  const { signal } = new AbortController();
  const { headers, bearer } = target;
  const limits = { timeoutMs: PROBE_TIMEOUT_MS, totalMs: PROBE_TIMEOUT_MS };
  const options = { server: id, owner: undefined, era: settings.era, signal };
  const upstream = await open(target, { ...options, initTimeoutMs: PROBE_TIMEOUT_MS });
  try {
    return await listAll(upstream, 'tools/list', { ...limits, signal, headers, ...(bearer && { bearer }) });
  } finally {
    await upstream.close();
  }
}

/** A look at a server that is not stored yet, with what its definition holds. */
export function createInspectDefinition(parts: ListDefinitionParts): ConfigureParts['inspect'] {
  return async (server) => {
    try {
      return { tools: (await listDefinitionTools(parts, server, toRemoteTarget(server))).items.length };
    } catch (error) {
      return handleFailure(error, server);
    }
  };
}

function handleFailure(error: unknown, server: UserServer): ServerProbe {
  // It is there and wants a sign-in first, which nobody said: then it is one whose users sign in.
  if (error instanceof UpstreamError && error.reason === 'unauthorized' && mayRequireOAuth(server)) {
    return {};
  }
  const callerError = toGatewayError(error, 'The server');
  if (!(callerError instanceof GatewayError) || callerError.code === 'MCP_DOMAIN_NOT_ALLOWED')
    throw callerError;
  throw new GatewayError('MCP_INSPECTION_FAILED', { detail: callerError.detail, cause: error });
}
