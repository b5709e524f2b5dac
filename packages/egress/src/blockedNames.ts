/** What a container network, a cluster or a cloud calls its own services: never meant for outsiders. */
const SERVICE_NAMES = new Set([
  'localhost',
  'api',
  'admin',
  'admin-panel',
  'backend',
  'cache',
  'consul',
  'database',
  'db',
  'elasticsearch',
  'etcd',
  'gateway',
  'host.docker.internal',
  'instance-data',
  'internal',
  'kafka',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'mariadb',
  'meilisearch',
  'memcached',
  'metadata',
  'minio',
  'mongo',
  'mongodb',
  'mysql',
  'postgres',
  'postgresql',
  'qdrant',
  'rabbitmq',
  'rag-api',
  'rag_api',
  'redis',
  'vault',
  'vectordb',
]);

/** Zones that are private by definition: RFC 6761 6.3, RFC 6762, RFC 8375, and ICANN's reservation of .internal. */
const LOCAL_ZONES = ['.localhost', '.local', '.home.arpa', '.internal', '.svc'];

/**
 * A second lock before the address check: such a name is refused before anything is asked of DNS, so a look-up
 * cannot tell an outsider which of them exist. An operator's host:port entry opens one.
 */
export function isBlockedName(host: string): boolean {
  return SERVICE_NAMES.has(host) || LOCAL_ZONES.some((zone) => host.endsWith(zone));
}
