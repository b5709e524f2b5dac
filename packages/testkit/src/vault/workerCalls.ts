import type { CredentialVault } from '@behalf/gateway';
import type { CredentialKey } from '@behalf/gateway/ports';
import type { Fetch } from '@behalf/kernel';
import type { CallsOrder, CallsReport } from './vaultSpec.ts';

interface Parts {
  readonly vault: CredentialVault;
  readonly fetch: Fetch;
  readonly url: string;
  readonly keyOf: (user: string) => CredentialKey;
}

/** Calls of a tool as the gateway makes them: a token of the vault, and one recovery when the server refuses it. */
export function createWorkerCalls({ vault, fetch, url, keyOf }: Parts) {
  async function ask(accessToken: string): Promise<{ status: number; seenAs: string }> {
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
    if (response.status !== 200) return { status: response.status, seenAs: '' };
    const { result } = JSON.parse(text) as { result: { content: { text: string }[] } };
    return { status: 200, seenAs: result.content[0]?.text ?? '' };
  }

  async function callOnce(user: string): Promise<string> {
    const key = keyOf(user);
    let outcome = await vault.token(key);
    if (outcome.kind !== 'token') return whyNot(outcome);
    let answer = await ask(outcome.token.accessToken);
    if (answer.status === 401) {
      outcome = await vault.recover(key, outcome.token.accessToken);
      if (outcome.kind !== 'token') return whyNot(outcome);
      answer = await ask(outcome.token.accessToken);
    }
    if (answer.status !== 200) return `HTTP ${answer.status}`;
    return answer.seenAs === user ? 'ok' : 'mistaken';
  }

  return async ({ users, each, spreadMs = 0 }: CallsOrder): Promise<CallsReport> => {
    const all = users.flatMap((user) => Array.from({ length: each }, () => user));
    const ended = await Promise.all(
      all.map(async (user) => {
        if (spreadMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * spreadMs));
        return callOnce(user).catch((error: unknown) => String(error));
      }),
    );
    const failures: Record<string, number> = {};
    for (const end of ended) {
      if (end !== 'ok' && end !== 'mistaken') failures[end] = (failures[end] ?? 0) + 1;
    }
    const count = (wanted: string) => ended.filter((end) => end === wanted).length;
    return { succeeded: count('ok'), failures, mistaken: count('mistaken') };
  };
}

/** An outcome without a token, in words. */
export function whyNot(outcome: { readonly kind: string; readonly reason?: string }): string {
  return outcome.reason === undefined ? outcome.kind : `${outcome.kind}: ${outcome.reason}`;
}
