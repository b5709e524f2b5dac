import { createSignInSessions, DEFAULT_TENANT, LOCAL_ISSUER } from '@behalf/gateway';
import { toVariableSealContext, variableId } from '@behalf/gateway/ports';
import { createKeyring, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { loadKeys, openPrimary } from '@behalf/stores/open';

/** A value that each user has entered for a server. */
export interface SeededVariable {
  server: string;
  name: string;
  valueFor: (userId: string) => string;
}

/** Adds signed-in users to a gateway's store before it starts. Returns their cookies in order. */
export async function seedUsers(
  dataDir: string,
  userIds: readonly string[],
  variable?: SeededVariable,
): Promise<string[]> {
  const store = await openPrimary({ dataDir }, { clock, random });
  try {
    const keyring = createKeyring(loadKeys({ configured: undefined, dataDir, random }), random);
    const { users } = store;
    const sessions = createSignInSessions({
      ...{ ...store, clock, random },
      endTokens: (key) => store.credentials.remove(key),
    });
    const cookies: string[] = [];
    for (const id of userIds) {
      const now = clock.now();
      const user = {
        id,
        tenant: DEFAULT_TENANT,
        issuer: LOCAL_ISSUER,
        subject: `${id}@example.com`,
        email: `${id}@example.com`,
        name: id,
        role: 'USER',
        roleSource: 'manual' as const,
        roleConfirmedAt: null,
        disabledAt: null,
        signedOutAt: null,
        passwordSealed: null,
        createdAt: now,
        updatedAt: now,
      };
      await users.insert(user);
      cookies.push(`behalf_session=${(await sessions.start(user)).secret}`);
    }
    if (variable) {
      const records = userIds.map((userId) => {
        const key = { tenant: DEFAULT_TENANT, userId, serverId: variable.server, name: variable.name };
        const valueSealed = keyring.seal(variable.valueFor(userId), toVariableSealContext(key));
        return { ...key, id: variableId(key), valueSealed, updatedAt: clock.now() };
      });
      for (let i = 0; i < records.length; i += 500) await store.variables.put(records.slice(i, i + 500));
    }
    return cookies;
  } finally {
    await store.close();
  }
}
