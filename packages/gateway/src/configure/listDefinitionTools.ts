import { createFinding } from '@behalf/contracts';
import type { ListAll, ItemList } from '../catalog/listAll.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { renderTarget } from '../registry/renderTarget.ts';
import type { UserServer } from '../registry/server.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { createConfigError } from './readInput.ts';

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
