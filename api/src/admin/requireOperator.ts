import { DEFAULT_TENANT, GatewayError, type Principal } from '@behalf/gateway';

/**
 * What concerns the gateway as a whole is not for the administrator of one customer's tenant: they could reload what
 * all others use, and see how much others do. Tokens cannot name the operator's own tenant.
 */
export function requireOperator({ tenant }: Pick<Principal, 'tenant'>): void {
  if (tenant === DEFAULT_TENANT) return;
  throw new GatewayError('FORBIDDEN', { detail: 'Only administrators of the whole gateway can do this.' });
}
