/** The path of the one issuer. */
export const MOUNT_PATH = '/as';
/** What a token allows: to use what its user may use, through an MCP endpoint. */
export const MCP_SCOPE = 'mcp';

/** The endpoints that tokens are issued for. */
export interface TokenResources {
  /** Where none is named. */
  defaultResource(): string;
  isResource(url: string): boolean;
}
