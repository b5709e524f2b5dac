import type { TemplateValues } from '@behalf/settings';
import type { UserStore } from '../../ports/index.ts';
import { toPrincipal } from '../../principal/principal.ts';
import { type ServerSnapshot, listDeclaredVariables } from '../../definitions/definition.ts';
import { userIdOfHolder } from '../../principal/credentialHolder.ts';
import { userFieldsOf } from '../credentials.ts';
import { type VariableCache, variableOwner } from './variableCache.ts';

interface HolderValueParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly variables: Pick<VariableCache, 'read'>;
}

/**
 * The template values for the holder of a credential, without a request of that user: a refresh in the background has
 * no caller. Empty for the gateway's own credentials and for disabled users.
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
  const { values } = await variables.read(variableOwner(server, { tenant, userId: account.id }));
  const declared = listDeclaredVariables(server.settings).filter((name) => Object.hasOwn(values, name));
  return {
    userVar: Object.fromEntries(declared.map((name) => [name, values[name] ?? ''])),
    user: userFieldsOf(toPrincipal(account, { via: 'session', session: '' })),
  };
}
