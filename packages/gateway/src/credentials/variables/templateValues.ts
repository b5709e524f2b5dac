import type { TemplateValues } from '@behalf/settings';
import type { UserStore } from '../../ports/index.ts';
import { toPrincipal } from '../../principal/principal.ts';
import { type ServerSnapshot, listDeclaredVariables } from '../../servers/definition.ts';
import { userIdOfHolder } from '../credentialKeys.ts';
import { userFieldsOf } from '../credentials.ts';
import type { VariableCache } from './variableCache.ts';

interface HolderValueParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly variables: Pick<VariableCache, 'read'>;
}

/**
 * What a server's definition is filled in with for the holder of a credential, also when they are not there: a renewal in the
 * background has no caller. What is ours alone is filled in with nothing.
 */
export async function readHolderValues(
  { users, variables }: HolderValueParts,
  server: ServerSnapshot,
  tenant: string,
  holder: string,
): Promise<TemplateValues> {
  const userId = userIdOfHolder(holder);
  const account = userId === undefined ? null : await users.findById(userId);
  if (account?.tenant !== tenant || account.disabledAt !== null) return {};
  const { values } = await variables.read({ tenant, userId: account.id, serverId: server.id });
  const declared = listDeclaredVariables(server.settings).filter((name) => Object.hasOwn(values, name));
  return {
    userVar: Object.fromEntries(declared.map((name) => [name, values[name] ?? ''])),
    user: userFieldsOf(toPrincipal(account, { via: 'session', session: '' })),
  };
}
