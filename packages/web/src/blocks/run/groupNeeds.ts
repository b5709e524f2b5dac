import type { CredentialNeed, MissingInput, MissingParts } from '@behalf/contracts';

/** Missing inputs and credentials of the servers at one address. */
interface NeedGroup {
  readonly key: string;
  /** Visible only to users who may edit the server. */
  readonly address: string | undefined;
  /** Titles of the servers. */
  readonly titles: readonly string[];
  readonly inputs: readonly MissingInput[];
  readonly needs: readonly CredentialNeed[];
}

/**
 * Groups requirements by server address. Missing inputs join the group of their block's server, or
 * form new groups at the end. The order of the gateway is kept, so that entries do not move when
 * one is met.
 */
export function groupNeeds(
  missing: MissingParts,
  serverOfBlock: (block: string) => string,
  getServerTitle: (server: string) => string = (server) => server,
): NeedGroup[] {
  const groups = missing.credentials.map(({ address, needs }) => ({
    ...{ address, needs },
    servers: [...new Set(needs.map(({ server }) => server))],
    titles: [...new Set(needs.map(({ title }) => title))],
    inputs: [] as MissingInput[],
  }));
  for (const input of missing.inputs) {
    const server = serverOfBlock(input.block);
    const existing = groups.find(({ servers }) => servers.includes(server));
    if (existing) existing.inputs.push(input);
    else
      groups.push({
        ...{ address: undefined, needs: [], inputs: [input] },
        ...{ servers: [server], titles: [getServerTitle(server)] },
      });
  }
  return groups.map(({ servers, ...group }) => ({ ...group, key: servers.join('\n') }));
}
