import type { AuthorizationServer, InterfaceMcpServers, McpSettings, ToolApproval } from '@behalf/contracts';
import type { EndpointSettings } from './compile/compileEndpoints.ts';
import type { ProviderSettings } from './compile/compileProviders.ts';
import type { ServerSettings } from './compile/serverSettings.ts';

/** The configuration, parsed once and frozen. */
export interface Settings {
  readonly servers: readonly ServerSettings[];
  readonly mcpSettings: Readonly<McpSettings>;
  /** Only what the file says: absent permissions keep what is stored. */
  readonly interface: { readonly mcpServers: Readonly<InterfaceMcpServers> | undefined };
  readonly endpoints: {
    readonly custom: readonly EndpointSettings[];
    readonly toolApproval: Readonly<ToolApproval> | undefined;
  };
  readonly identityProviders: readonly ProviderSettings[];
  /** Null unless it is enabled. */
  readonly authorizationServer: Readonly<AuthorizationServer> | null;
}
