import { builtInRoles } from '@behalf/contracts';
import { DEFAULT_TENANT } from '@behalf/gateway';
import type { RoleStore } from '@behalf/gateway/ports';
import { CommandError } from './environment.ts';

/** A role that does not exist has no permissions, and is probably a typing error. */
export async function requireRole(roles: RoleStore, name: string, usage: string): Promise<void> {
  const tenantRoles = (await roles.list()).filter(({ tenant }) => tenant === DEFAULT_TENANT);
  const roleNames = [...new Set([...builtInRoles, ...tenantRoles.map((role) => role.name)])];
  if (!roleNames.includes(name))
    throw new CommandError(`--role must be one of ${roleNames.join(', ')}. ${usage}`);
}
