export type RoleNameProblem = 'missing' | 'characters' | 'long';

const LONGEST = 64;

/** What the gateway would say about a name, before it is asked. */
export function roleNameProblem(name: string): RoleNameProblem | undefined {
  if (name === '') return 'missing';
  if (name.length > LONGEST) return 'long';
  return /^[A-Za-z][A-Za-z0-9_ -]*$/.test(name) ? undefined : 'characters';
}
