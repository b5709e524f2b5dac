/** Said in every handshake, in buildInfo and by whoever starts the double: nobody shall take it for a database. */
export function mongoDoubleBanner(): string {
  return 'TEST DOUBLE of MongoDB: in memory, for tests only, never for users. No data is stored.';
}
