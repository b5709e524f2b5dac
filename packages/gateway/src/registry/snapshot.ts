import { createHash } from 'node:crypto';
import type { ServerSettings } from '@behalf/settings';
import { renderTarget, type RenderContext, type RenderFailure } from './renderTarget.ts';
import { scopeOf, type Scope } from './scope.ts';
import type { ServerSnapshot, ServerSource } from './server.ts';
import type { UpstreamTarget } from '../upstream/target.ts';

/** The tenant of servers that belong to no tenant in particular. */
export const EVERY_TENANT = '*';

export interface ServerIdentity {
  readonly id: string;
  readonly tenant: string;
  readonly source: ServerSource;
  readonly author?: string;
}

/** What decides about a server besides its definition. */
export interface Surroundings {
  readonly inheritedEnv: RenderContext['inheritedEnv'];
  /** Which addresses are allowed, as one text. */
  readonly addressPolicy: string;
}

export type Snapshot = { readonly ok: true; readonly server: ServerSnapshot } | RenderFailure;

/** From a compiled definition to the frozen thing that everybody else works with. */
export function snapshotOf(
  settings: ServerSettings,
  identity: ServerIdentity,
  { inheritedEnv, addressPolicy }: Surroundings,
): Snapshot {
  const { id, tenant, source, author } = identity;
  const scope = scopeOf(settings, source);
  const base = { id, tenant, name: settings.name, source, settings, ...(author !== undefined && { author }) };
  const policy = staysConnected(settings) ? addressPolicy : null;
  if (scope.scope === 'user') {
    const revision = revisionOf(settings, identity, scope, { target: null, policy });
    return { ok: true, server: Object.freeze({ ...base, ...scope, revision }) };
  }
  const rendered = renderTarget(settings, {}, { audience: audienceOf(source), inheritedEnv });
  if (!rendered.ok) return rendered;
  const { target } = rendered;
  const revision = revisionOf(settings, identity, scope, { target, policy });
  return { ok: true, server: Object.freeze({ ...base, ...scope, target, revision }) };
}

/** One address check when it opens, and none after: when the rules change, only another revision ends it. */
function staysConnected({ type }: ServerSettings): boolean {
  return type === 'websocket' || type === 'sse';
}

/** An administrator's word counts as the operator's; a user's address meets the stricter policy. */
export function audienceOf(source: ServerSource): RenderContext['audience'] {
  return source === 'user' ? 'user-server' : 'yaml-server';
}

/**
 * A hash over whatever a connection depends on; only what people read of a server is left out. Source and tenant are
 * part of it: an override never meets the connection of its base, even when both say the same.
 */
function revisionOf(
  settings: ServerSettings,
  { id, tenant, source }: ServerIdentity,
  scope: Scope,
  { target, policy }: { readonly target: UpstreamTarget | null; readonly policy: string | null },
): string {
  const { title: _title, description: _description, iconPath: _icon, chatMenu: _menu, ...rest } = settings;
  return createHash('sha256')
    .update(JSON.stringify([id, tenant, source, scope, rest, target, policy]))
    .digest('base64url');
}
