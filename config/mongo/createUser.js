// Run once by the MongoDB image, in mongosh, before the database is opened to others.
db.getSiblingDB('behalf').createUser({
  user: 'behalf',
  pwd: process.env.MONGO_PASSWORD,
  roles: [{ role: 'readWrite', db: 'behalf' }],
});
