import type { UserChange, UserRecord } from '@behalf/gateway/ports';

const changeable = [
  'email',
  'name',
  'role',
  'roleSource',
  'roleConfirmedAt',
  'disabledAt',
  'signedOutAt',
] as const satisfies readonly (keyof UserChange)[];

/** What of an account is written. Who it is and its password stay, whatever else the given object carries. */
export function userChange(change: UserChange, at: number): Partial<UserRecord> {
  const given = changeable.filter((field) => change[field] !== undefined);
  return { ...Object.fromEntries(given.map((field) => [field, change[field]])), updatedAt: at };
}
