type RoleNameProblem = 'missing' | 'characters' | 'long';

const MAX_LENGTH = 64;

/** Validates a role name with the rules of the gateway. */
export function validateRoleName(name: string): RoleNameProblem | undefined {
  if (name === '') return 'missing';
  if (name.length > MAX_LENGTH) return 'long';
  return /^[A-Za-z][A-Za-z0-9_ -]*$/.test(name) ? undefined : 'characters';
}
