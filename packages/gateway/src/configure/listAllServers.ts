import { ALL_ACL_BITS, type AdminServersView } from '@behalf/contracts';
import { requireAdmin } from '../access/requireAdmin.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Registry } from '../registry/registry.ts';
import type { Overrides } from './overrides.ts';
import { toServerView } from './serverView.ts';

export interface ListAllServersParts {
  readonly registry: Pick<Registry, 'list' | 'origin'>;
  readonly overrides: Pick<Overrides, 'load'>;
}

/** Every server of the tenant, whoever defined it: an administrator sees what there is, though not how it gets in. */
export async function listAllServers(
  { registry, overrides }: ListAllServersParts,
  principal: UserPrincipal,
): Promise<AdminServersView> {
  requireAdmin(principal);
  const { tenant } = principal;
  const overridden = (await overrides.load())
    .filter((override) => override.tenant === tenant)
    .map(({ name }) => name);
  const servers = registry.list(tenant).map((server) => ({
    serverName: server.name,
    overridden: overridden.includes(server.name),
    ...toServerView(server, registry.origin(server), {
      bits: server.source === 'user' ? ALL_ACL_BITS : 0,
      isEditor: true,
    }),
  }));
  const offeredNames = new Set(servers.map(({ serverName }) => serverName));
  return { servers, notOffered: overridden.filter((name) => !offeredNames.has(name)) };
}
