import type { CredentialNeed, MissingInput, MissingParts } from '@behalf/contracts';

/** What servers at one address need, both kinds together. */
interface NeedGroup {
  readonly key: string;
  /** Told to who may edit the server. */
  readonly address: string | undefined;
  /** What it is called: by the titles of its servers. */
  readonly titles: readonly string[];
  readonly inputs: readonly MissingInput[];
  readonly needs: readonly CredentialNeed[];
}

/**
 * Missing inputs join the group of the server of their block; those of other servers come after, in the order of the answer.
 * The order of the gateway stays, so that who fills one in finds the others where they were.
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
