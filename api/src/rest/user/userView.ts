import type { UserView } from '@behalf/contracts';

/** By name, so that a new field of an account stays inside until it is listed here. */
export function userView({ id, email, name, role }: UserView): UserView {
  return { id, email, name, role };
}
