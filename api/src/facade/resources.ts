/** The path of the one issuer. */
export const MOUNT = '/as';
/** What a token allows: to use what its user may use, through an MCP endpoint. */
export const SCOPE = 'mcp';

/** The endpoints that tokens are issued for. */
export interface Resources {
  /** Where none is named. */
  fallback(): string;
  isResource(url: string): boolean;
}
