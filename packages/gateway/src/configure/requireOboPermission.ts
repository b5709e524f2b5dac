import { formatPath } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { findSecurityChanges, toFields } from '../registry/canonicalFields.ts';
import type { ConfigureParts } from './parts.ts';

/**
 * An OBO server gets a token of whoever calls it. So whoever decides where it is and which scopes it asks for decides
 * over other people's tokens: without CONFIGURE_OBO nothing of such a server changes but its texts and its picture.
 * The fields are those of the definitions themselves: one that is added tomorrow is locked until somebody frees it.
 */
export function requireOboPermission(
  { roles }: { readonly roles: Pick<ConfigureParts['roles'], 'permits'> },
  principal: UserPrincipal,
  before: unknown,
  after: unknown,
): void {
  if (!hasObo(before) && !hasObo(after)) return;
  const lockedFields = findSecurityChanges(before, after);
  if (lockedFields.length === 0 || roles.permits(principal, 'CONFIGURE_OBO')) return;
  throw new GatewayError('MCP_OBO_FORBIDDEN', {
    detail: 'Forbidden: Insufficient permissions to configure OBO',
    errors: lockedFields.map((key) => ({
      path: formatPath(['config', key]),
      code: 'obo_locked',
      message: 'cannot be changed on a server with On-Behalf-Of',
    })),
  });
}

/** Also one that is not valid: whatever it was meant to be, it was meant to be OBO. */
function hasObo(definition: unknown): boolean {
  return toFields(definition)['obo'] !== undefined;
}
