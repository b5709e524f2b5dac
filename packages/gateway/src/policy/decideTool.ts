import type { CatalogTool } from '../catalog/catalog.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { isToolAllowed } from '../registry/isToolAllowed.ts';
import type { ToolPolicy, ToolDecision } from './toolPolicy.ts';

export interface PolicyParts {
  /** As the configuration has it now. */
  readonly policy: () => ToolPolicy;
}

/** What the definition of the server and the policy say together. The one question of lists and of calls. */
export function decideTool(
  policy: ToolPolicy,
  principal: Pick<Principal, 'kind' | 'role'>,
  server: Pick<ServerSnapshot, 'name' | 'source' | 'settings'>,
  { name, annotations }: Pick<CatalogTool, 'name' | 'annotations'>,
): ToolDecision {
  const readOnly = annotations?.['readOnlyHint'] === true;
  if (!isToolAllowed(server.settings, name, readOnly)) return 'absent';
  return policy.decide(principal, server, { name, readOnly });
}

/** Whether this tool exists for this caller. */
export function isToolAvailable(...args: Parameters<typeof decideTool>): boolean {
  return decideTool(...args) !== 'absent';
}
