import { GatewayError } from '../errors/gatewayError.ts';
import { isAdmin, type Principal } from '../principal/principal.ts';

/** The door has asked already; what changes other people's rights asks again. */
export function requireAdmin(principal: Principal): void {
  if (!isAdmin(principal)) throw new GatewayError('FORBIDDEN');
}
