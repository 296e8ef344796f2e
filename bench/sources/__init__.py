"""How fast what comes from outside is taken in: notifications of objects, and searches of large stores."""
