"""The store on PostgreSQL: any number of equal nodes, no session state, time from the database."""
