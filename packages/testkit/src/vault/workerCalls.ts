import type { CredentialVault } from '@behalf/gateway';
import type { CredentialKey } from '@behalf/gateway/ports';
import type { Fetch } from '@behalf/kernel';
import type { CallsCommand, CallsReport } from './vaultSpec.ts';

interface Parts {
  readonly vault: CredentialVault;
  readonly fetch: Fetch;
  readonly url: string;
  readonly keyOf: (user: string) => CredentialKey;
}

/** Calls of a tool as the gateway makes them: a token of the vault, and one recovery when the server refuses it. */
export function createWorkerCalls({ vault, fetch, url, keyOf }: Parts) {
  async function callWhoami(accessToken: string): Promise<{ status: number; user: string }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${accessToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }),
    });
    const text = await response.text();
    if (response.status !== 200) return { status: response.status, user: '' };
    const { result } = JSON.parse(text) as { result: { content: { text: string }[] } };
    return { status: 200, user: result.content[0]?.text ?? '' };
  }

  async function callOnce(user: string): Promise<string> {
    const key = keyOf(user);
    let outcome = await vault.token(key);
    if (outcome.kind !== 'token') return describeFailure(outcome);
    let response = await callWhoami(outcome.token.accessToken);
    if (response.status === 401) {
      outcome = await vault.recover(key, outcome.token.accessToken);
      if (outcome.kind !== 'token') return describeFailure(outcome);
      response = await callWhoami(outcome.token.accessToken);
    }
    if (response.status !== 200) return `HTTP ${response.status}`;
    return response.user === user ? 'ok' : 'mistaken';
  }

  return async ({ users, callsPerUser, spreadMs = 0 }: CallsCommand): Promise<CallsReport> => {
    const callers = users.flatMap((user) => Array.from({ length: callsPerUser }, () => user));
    const outcomes = await Promise.all(
      callers.map(async (user) => {
        if (spreadMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * spreadMs));
        return callOnce(user).catch((error: unknown) => String(error));
      }),
    );
    const failures: Record<string, number> = {};
    for (const outcome of outcomes) {
      if (outcome !== 'ok' && outcome !== 'mistaken') failures[outcome] = (failures[outcome] ?? 0) + 1;
    }
    const count = (expected: string) => outcomes.filter((end) => end === expected).length;
    return { succeeded: count('ok'), failures, wrongUser: count('mistaken') };
  };
}

/** An outcome without a token, in words. */
export function describeFailure(outcome: { readonly kind: string; readonly reason?: string }): string {
  return outcome.reason === undefined ? outcome.kind : `${outcome.kind}: ${outcome.reason}`;
}
