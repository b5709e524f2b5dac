import type { Diagnostic } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type UserVariableRecord, toVariableSealContext, variableId } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type ServerSnapshot, listDeclaredVariables } from '../../definitions/definition.ts';
import { type VariableParts, variableOwner, variablesKey } from './variableCache.ts';

/** Longer than any key or certificate. Limits the memory that cached values occupy. */
const MAX_VALUE_LENGTH = 16_384;

export type UserVariables = ReturnType<typeof createUserVariables>;

/** Writes the values that users enter for servers. No method returns a value. */
export function createUserVariables({ store, keyring, changes, clock }: VariableParts) {
  const publishChange = (server: ServerSnapshot, principal: UserPrincipal) =>
    changes.publish({ topic: 'variables', id: variablesKey(variableOwner(server, principal)) });

  return {
    /** For each declared name: whether the user entered a value. A blank value does not count. */
    async readSetFlags(server: ServerSnapshot, principal: UserPrincipal): Promise<Record<string, boolean>> {
      const records = await store.list(principal.tenant, principal.userId, server.id);
      const namesWithValue = new Set(
        records
          .filter((record) => !isBlank(keyring.open(record.valueSealed, toVariableSealContext(record))))
          .map(({ name }) => name),
      );
      return Object.fromEntries(
        listDeclaredVariables(server.settings).map((name) => [name, namesWithValue.has(name)]),
      );
    },
    /** Stores all values or, if one is invalid, none. A blank value removes the variable. */
    async set(
      server: ServerSnapshot,
      principal: UserPrincipal,
      values: Readonly<Record<string, string>>,
    ): Promise<void> {
      const errors = validateValues(values, listDeclaredVariables(server.settings));
      if (errors.length > 0) throw new GatewayError('REQUEST_INVALID', { errors });
      const owner = variableOwner(server, principal);
      const records: UserVariableRecord[] = [];
      const clearedNames: string[] = [];
      for (const [name, value] of Object.entries(values)) {
        const key = { ...owner, name };
        if (isBlank(value)) clearedNames.push(name);
        else {
          const valueSealed = keyring.seal(value, toVariableSealContext(key));
          records.push({ id: variableId(key), ...key, valueSealed, updatedAt: clock.now() });
        }
      }
      await store.put(records);
      for (const name of clearedNames) await store.remove(owner.tenant, owner.userId, owner.serverId, name);
      await publishChange(server, principal);
    },
    async removeAll(server: ServerSnapshot, principal: UserPrincipal): Promise<void> {
      await store.removeAll(principal.tenant, principal.userId, server.id);
      await publishChange(server, principal);
    },
  };
}

export function isBlank(value: string): boolean {
  return value.trim() === '';
}

function validateValues(values: Readonly<Record<string, string>>, declared: readonly string[]): Diagnostic[] {
  return Object.entries(values).flatMap(([name, value]): Diagnostic[] => {
    // Rejected even if declared: such a variable could replace the identity of the user in a template.
    if (name.toUpperCase().startsWith('LIBRECHAT_')) {
      return [{ path: name, code: 'variable_reserved', message: 'is a reserved name' }];
    }
    if (!declared.includes(name)) {
      const suggestion =
        declared.length > 0 ? `use ${declared.join(', ')}` : 'this server declares no variables';
      return [
        { path: name, code: 'variable_undeclared', message: 'is not declared by the server', suggestion },
      ];
    }
    if (value.length > MAX_VALUE_LENGTH) {
      return [{ path: name, code: 'too_long', message: `is longer than ${MAX_VALUE_LENGTH} characters` }];
    }
    return [];
  });
}
