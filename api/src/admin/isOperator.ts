import { DEFAULT_TENANT, isAdmin, type Principal } from '@behalf/gateway';

/** An administrator of the whole gateway: the same as `requireOperator`, for who is answered either way. */
export function isOperator(caller: Principal): boolean {
  return isAdmin(caller) && caller.tenant === DEFAULT_TENANT;
}
